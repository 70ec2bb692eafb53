import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article, respondWith } from '../support/web.ts'

const item = 'The quick brown fox jumps over the lazy dog while the river runs on.'
const shell = (script: string, body = '<div id="root"></div>') =>
  `<!doctype html><title>App</title>${body}<script>${script}</script>`
const prose = `<p>${`${item} `.repeat(30)}</p>`

const slow = (ms: number, type: string, body: string) => (_: unknown, response: import('node:http').ServerResponse) =>
  void setTimeout(() => response.writeHead(200, { 'content-type': type }).end(body), ms)

const pages: Parameters<typeof serveSite>[0] = {
  '/article': article,
  '/diagram': `<!doctype html><main><h1>Flow</h1><p>Before</p><svg width="400" height="200"><title>Steps</title>
    <defs><foreignObject width="9" height="9"><p>Never drawn</p></foreignObject></defs>
    <g><switch><foreignObject width="99" height="99"><div><p>First <b>step</b></p>
      <svg width="50" height="50"><foreignObject width="50" height="50"><p>Inner</p></foreignObject></svg></div></foreignObject>
      <text>First step</text></switch></g>
    <svg width="99" height="99"><foreignObject width="99" height="99"><a href="/second">Second step</a></foreignObject></svg>
    <text y="20">10 %</text></svg><p>After</p></main>`,
  '/static-scripted': article.replace(
    '</body>',
    '<script src="/analytics.js"></script><script>window.dataLayer = []; dataLayer.push({a: 1})</script></body>',
  ),
  '/items': slow(150, 'application/json', JSON.stringify([1, 2, 3].map((n) => `${n}: ${item}`))),
  '/spa-fetch': shell(
    "fetch('/items').then((r) => r.json()).then((all) => { root.innerHTML = '<h1>Items</h1>' + all.map((i) => '<p>' + i + '</p>').join('') })",
  ),
  '/spa-timers': shell(
    "setTimeout(() => { root.innerHTML = '<h1>Items</h1>'; setTimeout(() => root.insertAdjacentHTML('beforeend', '<p>Late but there</p>'), 400) }, 300)",
  ),
  '/spa-bundle':
    '<!doctype html><title>App</title><div id="app"></div><script type="module" src="/assets/index.js"></script>',
  '/assets/index.js': respondWith(
    'text/javascript',
    "const { text } = await import('/assets/chunk.js'); document.getElementById('app').innerHTML = '<h1>Bundled</h1><p>' + text + '</p>'",
  ),
  '/assets/chunk.js': slow(120, 'text/javascript', `export const text = ${JSON.stringify(item)}`),
  '/spa-xhr': shell(
    "const r = new XMLHttpRequest(); r.open('GET', '/items'); r.onload = () => { root.textContent = r.responseText }; r.send()",
  ),
  '/list-later': `<!doctype html><title>Mixed</title><main><h1>Long introduction</h1>${prose}<ul id="results"></ul></main><script>fetch('/items').then((r) => r.json()).then((all) => { for (const i of all) { const li = document.createElement('li'); li.textContent = i; document.getElementById('results').appendChild(li) } })</script>`,
  '/notice':
    '<!doctype html><noscript>Please enable JavaScript to use this site.</noscript><p>Loading</p><script>document.querySelector("p").textContent = "The real text"</script>',
  '/template': `<!doctype html><div id="app">${prose}<p>{{ greeting }}</p></div><script>document.querySelector('p:last-child').textContent = 'Hello from the template'</script>`,
  '/component': shell(
    "customElements.define('my-page', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<h1>In the shadow</h1><slot></slot>' } })",
    '<my-page><p>Slotted text</p></my-page>',
  ),
  '/frames': shell(
    "requestAnimationFrame(() => requestAnimationFrame(() => { root.innerHTML = '<p>Drawn in a frame</p>' }))",
  ),
  '/lazy': shell(
    "new IntersectionObserver((seen) => { if (seen[0].isIntersecting) root.innerHTML = '<p>Seen at last</p>' }).observe(root)",
    '<div style="height:5000px"></div><div id="root"></div>',
  ),
  '/socket-rotates': `<!doctype html><main>${prose}</main><script>setInterval(() => { document.title = String(Date.now()) }, 50)</script>`,
  '/overlay':
    '<!doctype html><style>#cookie-banner { position: fixed; inset: 0; z-index: 9; background: white }</style><main><p>Under the layer there is text.</p></main><div id="cookie-banner">We value your privacy</div>',
  '/form': `<!doctype html><title>Form</title><form onsubmit="event.preventDefault(); out.textContent = 'sent ' + q.value"><input id="q"><button>Send</button></form>
    <p id="out">nothing sent</p><button id="more" onclick="setTimeout(() => { out.textContent = 'more' }, 200)">More</button>
    <button id="hidden" style="display:none">Hidden</button><div style="height:3000px"></div><p id="end">y 0</p>
    <script>addEventListener('scroll', () => { end.textContent = 'y ' + scrollY })</script><a id="away" href="/article">Away</a>`,
  '/state': `<!doctype html><p id="s"></p><script>s.textContent = 'visits ' + (localStorage.visits = Number(localStorage.visits ?? 0) + 1) + ' cookie ' + document.cookie; document.cookie = 'seen=1'</script>`,
  '/stores': shell(`let done; const busy = () => done || setTimeout(busy, 20); busy(); keep()
    async function keep() {
      const folder = await navigator.storage.getDirectory()
      const buckets = navigator.storageBuckets
      const files = []; for await (const name of folder.keys()) files.push(name)
      const kept = [await indexedDB.databases(), await caches.keys(), await buckets?.keys() ?? [], files]
      await new Promise((opened) => { indexedDB.open('kept').onsuccess = opened })
      await caches.open('kept'); await buckets?.open('kept')
      await folder.getFileHandle('kept', { create: true })
      root.textContent = 'kept before: ' + kept.map(({ length }) => length)
      done = true
    }`),
  '/last-words': `<!doctype html><p id="s"></p><script>
    s.textContent = [sessionStorage.n, localStorage.n, name, document.cookie].join('|')
    const save = () => { sessionStorage.n = localStorage.n = 1; name = 'kept'; document.cookie = 'n=1' }
    save(); setInterval(save, 1); for (const event of ['beforeunload', 'pagehide', 'unload']) addEventListener(event, save)
  </script>`,
  '/route': shell(
    "const show = () => { root.textContent = 'Route ' + location.hash + ' after ' + (shown++) }; let shown = 0; addEventListener('hashchange', show); show()",
  ),
  '/pushes': shell("history.pushState({}, '', '/article'); root.textContent = 'Pushed'"),
  '/opens': shell("open('/article'); root.textContent = 'Opener'"),
  '/agent': (request, response) =>
    void response.writeHead(200, { 'content-type': 'text/plain' }).end(request.headers['user-agent']),
  '/slow-image': '<!doctype html><title>Image</title><p>Text beside a picture.</p><img src="/never.png">',
  '/never.png': () => {},
}

let homes: Homes
let site: Site

beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite(pages)
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

const answer = (path: string, input: Record<string, unknown> = {}, { url } = site) =>
  homes.clients.http.scrape({ url: `${url}${path}`, ...input } as never)
const scrape = async (path: string, input?: Record<string, unknown>, from?: Site) =>
  (await answer(path, input, from)).data!

test.each(['http', 'browser'])('HTML inside a drawing follows it, with render %s', async (render) => {
  const { markdown } = await scrape('/diagram', { render })
  const words = ['# Flow', 'Before', 'First **step**', 'Inner', `[Second step](${site.url}/second)`, 'After']
  expect(markdown!.trim().split(/\n+/)).toEqual(words)
})

describe('render auto', () => {
  // The engine remembers per host which pages need a browser: each test has a host of its own.
  let own: Site
  beforeEach(async () => {
    own = await serveSite(pages)
  })
  afterEach(() => own.close())

  test.each(['/article', '/static-scripted', '/socket-rotates'])('%s needs no browser', async (path) => {
    expect((await scrape(path, {}, own)).metadata.render).toBe('http')
  })

  test.each([
    ['/spa-fetch', `3: ${item}`],
    ['/spa-timers', 'Late but there'],
    ['/spa-bundle', item],
    ['/spa-xhr', '2: The quick'],
    ['/list-later', `3: ${item}`],
    ['/notice', 'The real text'],
    ['/template', 'Hello from the template'],
    ['/component', '# In the shadow\n\nSlotted text'],
    ['/frames', 'Drawn in a frame'],
    ['/lazy', 'Seen at last'],
  ])('%s is rendered completely', async (path, text) => {
    const { markdown, metadata } = await scrape(path, {}, own)
    expect(markdown).toContain(text)
    expect(metadata.render).toBe('browser')
  })

  test.each(['/article', '/static-scripted', '/list-later', '/spa-fetch', '/component'])(
    '%s is the same as from the browser',
    async (path) => {
      const formats = ['markdown', 'links', 'images', 'summary']
      const [auto, browser] = await Promise.all([
        scrape(path, { formats }, own),
        scrape(path, { formats, render: 'browser' }, own),
      ])
      const { metadata: _, ...content } = auto
      const { metadata: __, ...rendered } = browser
      expect(content).toEqual(rendered)
      const facts = (metadata: typeof _) => ({ ...metadata, scrape_id: '', duration_ms: 0, render: '' })
      expect(facts(auto.metadata)).toEqual(facts(browser.metadata))
    },
  )

  test('render http never starts a browser', async () => {
    const { markdown, metadata } = await scrape('/spa-fetch', { render: 'http' })
    expect([markdown, metadata.render]).toEqual(['', 'http'])
  })

  test('HTTP and browser send the same user agent and languages', async () => {
    const [http, browser] = await Promise.all([
      scrape('/agent', { render: 'http' }),
      scrape('/agent', { render: 'browser' }),
    ])
    expect(http.markdown).toBe(browser.markdown)
    expect(http.markdown).not.toContain('Headless')
  })

  test('renders at once on a host whose pages all need a browser', async () => {
    const shells = await serveSite(
      Object.fromEntries([1, 2, 3].map((n) => [`/${n}`, shell(`root.innerHTML = '<p>Page ${n}: ${item}</p>'`)])),
    )
    // Otherwise each page is requested as Markdown first.
    for (const n of [1, 2, 3]) await homes.clients.http.scrape({ url: `${shells.url}/${n}`, prefer_markdown: 'never' })
    expect(shells.requests.filter((path) => /\d/.test(path))).toEqual(['/1', '/1', '/2', '/2', '/3'])
    await shells.close()
  })
})

describe('the browser', () => {
  test('wait_for waits after the page is ready', async () => {
    const late = await serveSite({ '/': shell("setTimeout(() => { root.textContent = 'After a long while' }, 1200)") })
    expect((await homes.clients.http.scrape({ url: late.url, wait_for: 1500 })).data!.markdown).toBe(
      'After a long while\n',
    )
    await late.close()
  })

  test('overlays are kept, or removed on request', async () => {
    expect((await scrape('/overlay', { only_main_content: false, wait_for: 1 })).markdown).toContain('privacy')
    const { markdown } = await scrape('/overlay', { only_main_content: false, remove_overlays: true })
    expect(markdown).toBe('Under the layer there is text.\n')
  })

  test('does not wait for images without a screenshot', async () => {
    const start = performance.now()
    expect((await scrape('/slow-image', { render: 'browser' })).markdown).toContain('Text beside')
    expect(performance.now() - start).toBeLessThan(limits.scrape.timeoutMs / 2)
  })

  test('leaves no state for the next scrape', async () => {
    const once = async () => (await scrape('/state', { render: 'browser' })).markdown
    expect([await once(), await once(), await once()]).toEqual(Array(3).fill('visits 1 cookie\n'))
  })

  test('leaves no databases, caches, buckets and files', async () => {
    // More often than the number of idle tabs.
    for (const _ of [1, 2, 3, 4])
      expect((await scrape('/stores', { render: 'browser' })).markdown).toBe('kept before: 0,0,0,0\n')
  })

  test('leaves no state that a page saves while it is closed', async () => {
    for (const _ of [1, 2, 3]) expect((await scrape('/last-words', { render: 'browser' })).markdown).toBe('|||\n')
  })

  test('another fragment is another visit, also in the same tab', async () => {
    for (const route of ['/a', '/b', '/b']) {
      const { markdown, metadata } = await scrape(`/route#${route}`, { render: 'browser' })
      expect([markdown, metadata.url]).toEqual([`Route #${route} after 0\n`, `${site.url}/route#${route}`])
    }
  })

  test('opens a page after another one has changed its own URL to it', async () => {
    expect((await scrape('/pushes', { render: 'browser' })).markdown).toBe('Pushed\n')
    expect((await scrape('/article#top', { render: 'browser' })).markdown).toContain('How deltas grow')
  })

  test('windows that a page opens do not affect the next one', async () => {
    for (const _ of [1, 2]) expect((await scrape('/opens', { render: 'browser' })).markdown).toBe('Opener\n')
  })

  test('serves more pages than there are tabs', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => scrape('/spa-fetch')))
    expect(new Set(all.map(({ markdown }) => markdown)).size).toBe(1)
  })
})

describe('actions', () => {
  const act = async (actions: readonly unknown[], path = '/form') => scrape(path, { actions, only_main_content: false })

  test('type, press and click like a user', async () => {
    const pressed = await act([
      { type: 'type', selector: '#q', text: 'grüße' },
      { type: 'press', key: 'Enter' },
    ])
    expect(pressed.markdown).toContain('sent grüße')
    const clicked = await act([
      { type: 'type', selector: '#q', text: 'x' },
      { type: 'click', selector: 'form button' },
    ])
    expect(clicked.markdown).toContain('sent x')
    expect((await act([{ type: 'click', selector: '#more' }])).markdown).toContain('more')
  })

  test('follow a click that navigates', async () => {
    const { markdown, metadata } = await act([{ type: 'click', selector: '#away' }])
    expect(markdown).toContain('How deltas grow')
    expect(metadata.url).toBe(`${site.url}/article`)
  })

  test('scroll by pixels and by viewport', async () => {
    expect((await act([{ type: 'scroll', direction: 'down', amount: 300 }])).markdown).toContain('y 300')
    expect((await act([{ type: 'scroll' }])).markdown).toContain('y 720')
  })

  test('wait for a time and for an element', async () => {
    const { markdown } = await act([
      {
        type: 'execute',
        script: "setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<b id=\"new\">new</b>'), 700)",
      },
      { type: 'wait', selector: '#new' },
      { type: 'wait', milliseconds: 10 },
    ])
    expect(markdown).toContain('**new**')
  })

  test('return screenshots and values', async () => {
    const { actions } = await act([
      { type: 'screenshot' },
      { type: 'execute', script: 'document.title' },
      { type: 'execute', script: 'return await Promise.resolve({ deep: [1] })' },
      { type: 'screenshot', fullPage: true },
    ])
    const heights = actions!.screenshots.map((picture) => Buffer.from(picture, 'base64').readUInt32BE(20))
    expect(heights[0]).toBe(720)
    expect(heights[1]).toBeGreaterThan(3000)
    expect(actions!.results).toEqual([
      { index: 1, value: 'Form' },
      { index: 2, value: { deep: [1] } },
    ])
  })

  test.concurrent.each([
    ['a missing element', { type: 'click', selector: '#nowhere' }, /no element matches #nowhere/],
    ['a hidden element', { type: 'click', selector: '#hidden' }, /not visible/],
    ['an invalid selector', { type: 'click', selector: '##' }, /not a CSS selector/],
    ['a script that throws', { type: 'execute', script: 'throw new Error("no")' }, /no/],
    ['an unknown key', { type: 'press', key: 'Entr' }, /unknown key/],
  ])('%s fails with its index', async (_, action, message) => {
    const failed = await answer('/form', { actions: [{ type: 'scroll' }, action] })
    expect(failed).toMatchObject({ success: false, code: 'action_failed', details: { index: 1, type: action.type } })
    expect(failed.error).toMatch(message)
  })

  test.concurrent('a script may await something for longer than it may block the page', async () => {
    const awaited = limits.scrape.busyMs + limits.scrape.settleMs + 1000
    const script = `await new Promise((resolve) => setTimeout(resolve, ${awaited})); return document.title`
    const { data } = await answer('/form', { actions: [{ type: 'execute', script }] })
    expect(data!.actions!.results).toEqual([{ index: 0, value: 'Form' }])
    expect(data!.warning).toBeUndefined()
  })

  test.concurrent.each([
    ['an endless script', 'for (;;);'],
    ['a script that is endless after it has awaited something', 'await fetch(location.href); for (;;);'],
  ])('%s is stopped', async (_, script) => {
    expect(await answer('/form', { actions: [{ type: 'execute', script }] })).toMatchObject({
      code: 'action_failed',
      error: expect.stringContaining('was stopped'),
      details: { index: 0, type: 'execute' },
    })
  })

  test.concurrent('a script that awaits forever ends with the timeout of the scrape', async () => {
    const script = 'await new Promise(() => {})'
    const scrape = answer('/form', { timeout: 3000, actions: [{ type: 'execute', script }] })
    await expect(scrape).rejects.toMatchObject({ code: 'timeout' })
  })
})
