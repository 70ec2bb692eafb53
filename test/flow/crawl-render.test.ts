import { readdirSync, readFileSync } from 'node:fs'
import { readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { isSampled } from '../../src/engine/render/decide/fetch-or-render.ts'
import { crawl, linkPage, pathsOf } from '../support/crawl.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'

let homes: Homes
const sites: Site[] = []

beforeAll(async () => {
  homes = await openHomes({ home: 'embedded' })
})
afterAll(async () => {
  await homes.close()
  await Promise.all(sites.map((site) => site.close()))
})

async function siteOf(pages: Parameters<typeof serveSite>[0]): Promise<Site> {
  const site = await serveSite({ '/robots.txt': (_, response) => void response.writeHead(404).end(), ...pages })
  sites.push(site)
  return site
}

const run = (url: string, input: Record<string, unknown> = {}) =>
  crawl(homes.clients.http, url, { limit: 100, ...input })

/** A page filled by a script. */
const shell = (text: string, link = '') =>
  `<!doctype html><title>Shell</title><div id="root"></div><script>setTimeout(() => { root.innerHTML = '<main><h1>${text}</h1><p>Filled in by a script, word after word, as ${text}.</p>${link ? `<a href="${link}">on</a>` : ''}</main>' }, 20)</script>`

const sentence = 'The river carries sand and silt from the mountains to the sea, and year after year the delta grows. '

/**
 * A page that looks complete: a long text, and an external script that adds more, of which the markup shows no sign.
 */
const incompletePage = (name: string, links: readonly string[] = []) =>
  linkPage(name, links, `<p>${sentence.repeat(60)}</p><section class="more"></section><script src="/site.js"></script>`)

/** The script of such pages, which adds text specific to each page. */
const addMore = `document.querySelector('.more').innerHTML = '<h2>More</h2><p>' + ('Only a browser shows this of ' + location.pathname + '. ').repeat(40) + '</p>'`

const script = (code: string) => (_: unknown, response: import('node:http').ServerResponse) =>
  void response.setHeader('content-type', 'text/javascript').end(code)

test('pages filled by a script are rendered, and their links followed', async () => {
  const site = await siteOf({ '/': shell('one', '/two'), '/two': shell('two', '/three'), '/three': linkPage('three') })
  const answer = await run(site.url)
  expect(pathsOf(answer)).toEqual(['/', '/two', '/three'])
  expect(answer.data.map(({ metadata }) => metadata.render)).toEqual(['browser', 'browser', 'http'])
  expect(answer.data[1]!.markdown).toContain('Filled in by a script, word after word, as two.')
})

describe('pages that look complete', () => {
  test('are compared with a browser: the first of a kind decides for later ones', async () => {
    const paths = Array.from({ length: 8 }, (_, at) => `/article/${at}`)
    const site = await siteOf({
      '/': linkPage('Home', paths),
      '/site.js': script(addMore),
      ...Object.fromEntries(paths.map((path) => [path, incompletePage(path)])),
    })
    const answer = await run(site.url, { concurrency: 4 })
    expect(answer.completed).toBe(9)
    for (const page of answer.data.slice(1)) {
      expect(page.metadata.render).toBe('browser')
      expect(page.markdown).toContain(`Only a browser shows this of ${new URL(page.metadata.sourceURL).pathname}.`)
    }
  })

  test('are kept as fetched if a browser shows nothing more', async () => {
    const paths = Array.from({ length: 8 }, (_, at) => `/article/${at}`)
    const site = await siteOf({
      '/': linkPage('Home', paths),
      '/site.js': script('window.counted = true'),
      ...Object.fromEntries(paths.map((path) => [path, incompletePage(path)])),
    })
    const answer = await run(site.url)
    expect(answer.data.map(({ metadata }) => metadata.render)).toEqual(Array(9).fill('http'))
    // Only the first page of the kind was rendered for that, and those of the sample.
    const sampled = paths.filter((path) => isSampled(`${site.url}${path}`)).length
    expect(site.requests.filter((path) => path === '/site.js').length).toBeLessThanOrEqual(1 + sampled)
  })

  test('are repeated when a later page of the sample shows more, in the same order', async () => {
    // The sample depends on the URLs, and so on the port of the site.
    const paths: string[] = []
    const home = () => linkPage('Home', paths)
    const article = (path: string) => incompletePage(paths.indexOf(path) >= 5 ? `rich ${path}` : path)
    const html = (text: () => string) => (_: unknown, response: import('node:http').ServerResponse) =>
      void response.setHeader('content-type', 'text/html').end(text())
    const all = Array.from({ length: 400 }, (_, at) => `/article/${at}`)
    const site = await siteOf({
      '/': html(home),
      '/site.js': script(`if (document.title.includes('rich')) { ${addMore} }`),
      ...Object.fromEntries(all.map((path) => [path, html(() => article(path))])),
    })
    const sampled = (path: string) => isSampled(`${site.url}${path}`)
    const sample = all.find(sampled)!
    const others = all.filter((path) => !sampled(path))
    paths.push(...others.slice(0, 5), sample, others[5]!)
    const { id } = (await homes.clients.http.crawl({ url: site.url, limit: 100, async: true })) as { id: string }
    const replaced: number[] = []
    for await (const frame of follow(homes.transports.http, 'GET /v1/crawl/{id}/stream', { id, types: 'crawl.page' })) {
      const { data, type } = frame as never as { type: string; data: { index: number; replaces?: boolean } }
      if (type === 'crawl.page' && data.replaces) replaced.push(data.index)
    }
    const { data } = await homes.clients.http.getCrawl({ id })
    expect(replaced).toEqual([1, 2, 3, 4, 5])
    expect(pathsOf({ data })).toEqual(['/', ...paths])
    expect(data.map(({ metadata }) => metadata.render)).toEqual(['http', ...paths.map(() => 'browser')])
    expect(data[6]!.markdown).toContain(`Only a browser shows this of ${sample}.`)

    // After an engine exit, a resumed crawl repeats these pages first.
    const journal = join(homes.stateDir, 'crawls', id, 'journal.ndjson')
    const text = await readFile(journal, 'utf8')
    const at = text.indexOf('\n', text.indexOf('"replaces":true')) + 1
    await truncate(journal, Buffer.byteLength(text.slice(0, at)))
    await homes.clients.http.resumeCrawl({ id })
    for await (const _ of follow(homes.transports.http, 'GET /v1/crawl/{id}/stream', { id, types: 'crawl.finished' }));
    expect((await homes.clients.http.getCrawl({ id })).data).toEqual(data)
  })
})

describe('menus added by a script', () => {
  /** A documentation page whose markup suggests more content (a bundle, an empty list), with a scripted menu. */
  const documented = (name: string) =>
    `<!doctype html><title>${name}</title><script type="module" src="/menu.js"></script><nav class="sidebar"><ul id="menu"></ul></nav>${linkPage(name).replace(/^[^]*<body>/, '')}<p>${sentence.repeat(6)}</p>`
  /** The menu of each page links to other pages. */
  const menu = (targets: string) =>
    script(`const at = Number(location.pathname.split('/').pop()) || 0
      document.querySelector('#menu').innerHTML = (${targets}).map((path) => '<li><a href="' + path + '">' + path + '</a></li>').join('')`)
  const paths = Array.from({ length: 24 }, (_, at) => `/doc/${at}`)
  const pages = Object.fromEntries(paths.map((path) => [path, documented(path)]))

  test('do not cause rendering if they lead to known pages', async () => {
    const site = await siteOf({
      '/': linkPage('Home', paths),
      '/menu.js': menu('Array.from({ length: 8 }, (_, n) => `/doc/${(at + n + 1) % 24}`)'),
      ...pages,
    })
    const answer = await run(site.url)
    expect(pathsOf(answer)).toEqual(['/', ...paths])
    const rendered = answer.data.filter(({ metadata }) => metadata.render === 'browser').length
    expect(rendered).toBeLessThanOrEqual(3)
  })

  test('are used if they lead to pages without other links', async () => {
    const site = await siteOf({
      '/': linkPage('Home', ['/doc/0']),
      '/menu.js': menu(
        'Array.from({ length: 6 }, (_, n) => `/doc/${at + n + 1}`).filter((path) => Number(path.slice(5)) < 24)',
      ),
      ...pages,
    })
    const answer = await run(site.url, { max_depth: 30 })
    expect(pathsOf(answer).toSorted()).toEqual(['/', ...paths].toSorted())
  })
})

test('a weak reason that proves wrong is ignored, whatever the concurrency', async () => {
  const paths = Array.from({ length: 12 }, (_, at) => `/weak/${at}`)
  const weak = (name: string) =>
    linkPage(
      name,
      [],
      `<p>${sentence.repeat(8)}</p><p id="stamp"></p><script>fetch('/stamp').then(async (r) => { document.querySelector('#stamp').textContent = await r.text() })</script>`,
    )
  const site = await siteOf({
    '/': linkPage('Home', paths),
    '/stamp': (_, response) => void response.end('now'),
    ...Object.fromEntries(paths.map((path) => [path, weak(path)])),
  })
  const renders = async (concurrency: number) =>
    (await run(site.url, { concurrency })).data.map(({ metadata }) => metadata.render)
  const one = await renders(1)
  expect(one.slice(0, 6)).toEqual(['http', 'browser', 'browser', 'browser', 'http', 'http'])
  expect(await renders(8)).toEqual(one)
})

test('killing the browser every twenty pages loses no page', async () => {
  const paths = Array.from({ length: 60 }, (_, at) => `/filled/${at}`)
  let filled = 0
  let killed = 0
  const site = await siteOf({
    '/': linkPage('Home', paths),
    ...Object.fromEntries(
      paths.map((path) => [
        path,
        (_: unknown, response: import('node:http').ServerResponse) => {
          response.setHeader('content-type', 'text/html').end(shell(path))
          if (++filled % 20 === 0) killed += killBrowsers()
        },
      ]),
    ),
  })
  const answer = await run(site.url, { render: 'browser' })
  expect(answer).toMatchObject({ completed: 61, errors: [] })
  expect(pathsOf(answer)).toEqual(['/', ...paths])
  for (const page of answer.data.slice(1)) expect(page.markdown).toContain('Filled in by a script')
  expect(killed).toBeGreaterThan(0)
})

test('without a browser, readable pages are kept as fetched', async () => {
  const bare = await openHomes({ home: 'embedded', browser: '/nonexistent/chromium' })
  const site = await siteOf({
    '/': incompletePage('Home', ['/shell']),
    '/shell': shell('x'),
    '/site.js': script(addMore),
  })
  const answer = await crawl(bare.clients.http, site.url)
  const refused = bare.clients.http.crawl({ url: `${site.url}/shell` }).finally(bare.close)
  await expect(refused).rejects.toMatchObject({ code: 'browser_not_found', status: 503 })
  expect(pathsOf(answer)).toEqual(['/'])
  expect(answer.errors).toMatchObject([{ code: 'browser_not_found' }])
})

/**
 * Kills the browsers started by this process; returns their number. Synchronous, because the crawl would end before
 * asynchronous checks of all processes.
 */
function killBrowsers(): number {
  let count = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [status, command] = ['status', 'cmdline'].map((file) => textOf(`/proc/${pid}/${file}`))
    if (!status!.includes(`PPid:\t${process.pid}\n`) || !command!.includes('bax-browser-')) continue
    process.kill(Number(pid), 'SIGKILL')
    count++
  }
  return count
}

/** Empty for a process that has just exited. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
