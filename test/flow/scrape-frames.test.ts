/** Frames of a scraped page: their visible content is part of the page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { redirectTo, respondWith } from '../support/web.ts'
import { type Site, serveSite } from '../support/site.ts'

const sentence = 'The chapter that stands in a frame says all there is to say about rivers, and that is a good deal.'
const chapter = `<!doctype html><title>Chapter</title><base href="/book/"><h2>In the frame</h2>${`<p>${sentence} <a href="next.html">Next</a></p>`.repeat(4)}<script>track()</script>`

let homes: Homes
let site: Site
let other: Site

beforeAll(async () => {
  homes = await openHomes()
  other = await serveSite({ '/ad': '<p>Buy from others.</p>', '/': '<p>Elsewhere.</p>' })
  site = await serveSite({
    '/chapter': chapter,
    '/same':
      '<!doctype html><title>Book</title><main><h1>Book</h1><p>Before the frame.</p><iframe src="/chapter"></iframe><p>After the frame.</p></main>',
    '/srcdoc': `<!doctype html><title>Doc</title><main><h1>Doc</h1><iframe srcdoc="&lt;p&gt;${sentence} &lt;a href='x'&gt;Link&lt;/a&gt;&lt;/p&gt;"></iframe></main>`,
    '/set':
      '<!doctype html><html><head><title>Reference</title></head><frameset cols="20%,80%"><frame src="/menu" name="menu"><frame src="/chapter" name="text"></frameset></html>',
    '/menu': '<ul><li><a href="/chapter">Chapter</a></li></ul>',
    '/others': `<!doctype html><title>Mixed</title><main><h1>Mixed</h1><p>${sentence}</p><iframe src="${other.url}/ad"></iframe><iframe src="/chapter" style="display: none"></iframe>
      <iframe src="/chapter" width="1" height="1"></iframe><iframe src="/chapter" class="ad-slot"></iframe><iframe src="/away"></iframe><iframe src="/film"></iframe><iframe src="/others"></iframe>
      <noscript><iframe src="/chapter"></iframe></noscript><iframe src="javascript:1"></iframe><iframe></iframe></main>`,
    '/away': redirectTo(`${'http://127.0.0.1:1'}/`),
    '/film': respondWith('video/mp4', 'x'),
    '/deep': `<!doctype html><title>Deep</title><main><h1>Deep</h1><p>${sentence}</p><iframe src="/deep1"></iframe></main>`,
    '/deep1': '<p>First level.</p><iframe src="/deep2"></iframe>',
    '/deep2': '<p>Second level.</p><iframe src="/deep3"></iframe>',
    '/deep3': '<p>Third level.</p>',
    '/gone': `<!doctype html><title>Gone</title><main><h1>Gone</h1><p>${sentence}</p><iframe src="/nowhere"></iframe></main>`,
    '/broken': `<!doctype html><title>Broken</title><main><h1>Broken</h1><p>${sentence}</p><iframe src="/cut"></iframe></main>`,
    '/cut': (request) => void request.socket.destroy(),
    '/silent': `<!doctype html><title>Silent</title><main><h1>Silent</h1><p>${sentence}</p><iframe src="/never"></iframe></main>`,
    '/never': (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).write('<p>more'),
    '/drawn':
      '<!doctype html><title>Drawn</title><div id="root"></div><script>root.innerHTML = "<h1>Drawn</h1><iframe src=/chapter></iframe>"</script>',
  })
})
afterAll(async () => {
  await homes?.close()
  await Promise.all([site?.close(), other?.close()])
})

const answer = (path: string, input: Record<string, unknown> = {}) =>
  homes.clients.http.scrape({ url: `${site.url}${path}`, ...input } as never)
const scrape = async (path: string, input: Record<string, unknown> = {}) => (await answer(path, input)).data!
const next = () => `[Next](${site.url}/book/next.html)`

describe.each(['http', 'browser'])('with render %s', (render) => {
  test('inserts a frame of the same origin, with its links resolved', async () => {
    const { markdown, html, links } = await scrape('/same', { render, formats: ['markdown', 'html', 'links'] })
    expect(markdown!.indexOf('Before the frame')).toBeLessThan(markdown!.indexOf('## In the frame'))
    expect(markdown!.indexOf(next())).toBeLessThan(markdown!.indexOf('After the frame'))
    expect(markdown).toMatch(/^# Book\n/)
    expect(html).toContain('<h2>In the frame</h2>')
    expect(html).not.toContain('track()')
    expect(links).toEqual([{ href: `${site.url}/book/next.html`, text: 'Next' }])
  })

  test('reads srcdoc without a request', async () => {
    const before = site.requests.length
    const { markdown } = await scrape('/srcdoc', { render })
    expect(markdown).toContain(`${sentence} [Link](${site.url}/x)`)
    expect(site.requests.slice(before).filter((path) => path !== '/srcdoc' && path !== '/favicon.ico')).toEqual([])
  })
})

describe('frames', () => {
  test('of a frameset are the content of the page', async () => {
    const { markdown, metadata } = await scrape('/set')
    expect(markdown).toContain('## In the frame')
    expect(markdown).toContain(sentence)
    expect(metadata).toMatchObject({ title: 'Reference', render: 'http' })
  })

  test('of other origins, hidden ones, trackers and players are omitted', async () => {
    const { markdown } = await scrape('/others', { only_main_content: false, render: 'http' })
    expect(markdown).toBe(`# Mixed\n\n${sentence}\n`)
    expect(other.requests).toEqual([])
  })

  test('are read up to the second level', async () => {
    const { markdown } = await scrape('/deep', { render: 'http' })
    expect(markdown).toContain('First level.')
    expect(markdown).toContain('Second level.')
    expect(markdown).not.toContain('Third level.')
  })

  test('that are missing do not change the page', async () => {
    expect(await answer('/gone', { render: 'http' })).toMatchObject({
      success: true,
      data: { markdown: `# Gone\n\n${sentence}\n` },
    })
    expect(await answer('/broken', { render: 'http' })).toMatchObject({
      success: true,
      data: { markdown: `# Broken\n\n${sentence}\n` },
      warning: expect.stringContaining('could not read a frame of the page (/cut)'),
    })
  })

  test('that never finish loading cause a warning', async () => {
    const { data, warning } = await answer('/silent', { render: 'http' })
    expect(data!.markdown).toContain(sentence)
    expect(warning).toContain('could not read a frame of the page (/never): it did not load in time')
  })

  test('inserted by a script are read', async () => {
    const { markdown, metadata } = await scrape('/drawn')
    expect(metadata.render).toBe('browser')
    expect(markdown).toContain('## In the frame')
  })
})
