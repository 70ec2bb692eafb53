/** Tests that commands act on the page that is being loaded, not on the one that it replaces. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { waitUntil } from '../support/wait.ts'

let requested = false
/** Time until the server responds, in which commands start. */
const responseMs = 400

const ways = {
  'location.assign': 'location.assign("/second")',
  'a form': 'document.forms[0].submit()',
  'a refresh': 'document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=refresh content=\'0; url=/second\'>")',
}
const page = (name: string, type: string) => `<!doctype html><title>${name}</title>
  <label>Subject <input id=field type=${type}></label><p id=where>${name} page</p><form action=/second></form>
  <script>onkeydown = ({ key }) => { window.pressed = key }; onscroll = () => { window.scrolled = true }</script>
  <div style="height:3000px"></div>`

/** Sends the rest of a page. */
let finish = () => {}

/** Sends the elements of a page, and the scripts that listen to them at the end; `endless` pages send both, and do not end. */
const inParts =
  (elements: string, scripts: string, endless = false) =>
  (_request: unknown, response: ServerResponse) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.write(`<!doctype html><title>Parts</title>${elements}`)
    if (endless) response.write(`<script>${scripts}</script>`)
    else finish = () => void response.end(`<script>${scripts}</script>`)
  }
const listening =
  'go.onclick = () => { go.textContent = "Gone" }; field.value = ""; onkeydown = ({ key }) => { go.textContent = key }'
const elements = '<button id=go>Go</button><input id=field>'

const sites = {
  '/links': `<!doctype html><title>Links</title>${['parts', 'endless', 'loads'].map((name) => `<a id=${name} href=/${name}>${name}</a> `).join('')}
    <button id=show onclick="document.querySelector('iframe').src = '/parts'">Show</button><iframe></iframe>`,
  '/parts': inParts(elements, listening),
  '/loads': `<!doctype html><title>Loads</title><button id=go>Go</button>
    <script>fetch('/data').then(() => { go.onclick = () => { go.textContent = 'Gone' } })</script>`,
  '/application': `<!doctype html><button id=go>Go</button><button id=fetch>Data</button><button id=script>Script</button>
    <button id=chain>Chain</button><button id=other>Other</button><script>
    let busy = false
    const later = () => { busy = false }
    document.querySelector('#fetch').onclick = () => { busy = true; fetch('/data').then(later) }
    document.querySelector('#script').onclick = () => {
      busy = true
      document.head.append(Object.assign(document.createElement('script'), { src: '/data', onload: later }))
    }
    document.querySelector('#chain').onclick = () => {
      busy = true
      fetch('/data').then(() => fetch('/soon')).then(later)
    }
    document.querySelector('#other').onclick = () => { busy = true; fetch('/data?what=other').then(later) }
    go.onclick = () => { if (!busy) go.textContent = 'Gone' }</script>`,
  '/data': (_request: unknown, response: ServerResponse) => {
    finish = () => void response.end()
  },
  '/soon': (_request: unknown, response: ServerResponse) => void setTimeout(() => response.end(), responseMs),
  '/endless': inParts(elements, listening, true),
  '/': page('First', 'checkbox'),
  '/second': (_request: unknown, response: ServerResponse) => {
    requested = true
    response.setHeader('content-type', 'text/html')
    setTimeout(() => response.end(page('Second', 'text')), responseMs)
  },
}

inUsualHomes(sites, (given) => {
  /** Starts a navigation of the first page outside of any command, which would wait for it. */
  async function navigate(expression: string) {
    await given.open('/')
    requested = false
    const session_id = given.sessionId()
    await given.client().cdp({ session_id, method: 'Runtime.evaluate', params: { expression } })
    await waitUntil(() => requested)
  }
  /** Runs a command, and lets the server send the rest of the page some time after its start. */
  async function beforeTheEnd(command: string, data: Record<string, unknown>) {
    setTimeout(finish, responseMs)
    await given.do(command, data)
  }
  const value = (command: string, data?: Record<string, unknown>) => given.value(command, data)

  test.each(Object.entries(ways))('commands wait for the page of %s', async (_way, script) => {
    await navigate(script)
    expect(await value('get_title')).toBe('Second')
    await navigate(script)
    await given.do('press_key', { key: 'a' })
    expect(await given.evaluate('window.pressed + document.title')).toBe('aSecond')
    await navigate(script)
    await given.do('fill_form', { fields: { Subject: 'Hello' } })
    expect(await given.evaluate('field.value')).toBe('Hello')
  })

  test.each([
    ['evaluate', { expression: 'document.title' }, 'Second'],
    ['get_text', { selector: '#where' }, 'Second page'],
    ['find_text', { text: 'page' }, [expect.objectContaining({ text: 'Second page' })]],
    ['get_bounding_boxes', { selector: '#where' }, [expect.objectContaining({ text: 'Second page' })]],
  ])('%s reads the page that is being loaded', async (command, data, expected) => {
    await navigate(ways['location.assign'])
    expect(await value(command, data)).toEqual(expected)
  })

  test('actions and waits are for the page that is being loaded', async () => {
    await navigate(ways['location.assign'])
    await given.do('verify', { selector: '#where', text: 'Second' })
    await navigate(ways['location.assign'])
    await given.do('scroll_to', { x: 0, y: 500 })
    expect(await given.evaluate('scrollY + document.title')).toBe('500Second')
    await navigate(ways['location.assign'])
    await given.do('fill', { selector: '#field', text: 'Hello' })
    expect(await given.evaluate('field.value')).toBe('Hello')
    await navigate(ways['location.assign'])
    expect((await given.do('get_content')).content).toContain('Second page')
  })

  test.each([
    ['click', { selector: '#go' }, 'Gone'],
    ['press_key', { key: 'a' }, 'a'],
    ['fill', { selector: '#field', text: 'Hello' }, 'HelloGo'],
  ])('%s waits for the scripts of a page that has not arrived completely', async (command, data, expected) => {
    await given.open('/links')
    await given.do('click', { selector: '#parts' })
    await beforeTheEnd(command, data)
    expect(await given.evaluate('field.value + go.textContent')).toBe(expected)
  })

  test('a click waits for the scripts of a frame that has not arrived completely', async () => {
    await given.open('/links')
    await given.do('click', { selector: '#show' })
    await beforeTheEnd('click', { selector: 'frame=iframe >> #go' })
    expect(await value('get_text', { selector: 'frame=iframe >> #go' })).toBe('Gone')
  })

  test('the first click waits for the data of the page', async () => {
    await given.open('/links')
    await given.do('click', { selector: '#loads' })
    await waitUntil(() => given.site().requests.includes('/data'))
    await beforeTheEnd('click', { selector: '#go' })
    expect(await given.evaluate('go.textContent')).toBe('Gone')
  })

  /** Clicks, and waits until the server has received the request that follows. */
  async function clickAndRequest(selector: string, path: string) {
    const requests = () => given.site().requests.filter((url) => url === path).length
    const before = requests()
    await given.do('click', { selector })
    await waitUntil(() => requests() > before)
  }

  test.each(['fetch', 'script'])('a click waits for what the one before it has requested: %s', async (kind) => {
    await given.open('/application')
    await clickAndRequest(`#${kind}`, '/data')
    await beforeTheEnd('click', { selector: '#go' })
    expect(await given.evaluate('go.textContent')).toBe('Gone')
  })

  test('a click waits for what is requested in turn', async () => {
    await given.open('/application')
    await clickAndRequest('#chain', '/data')
    await beforeTheEnd('click', { selector: '#go' })
    expect(await given.evaluate('go.textContent')).toBe('Gone')
  })

  test('a request that is never answered is not waited for again, but others of its path are', async () => {
    await given.open('/application')
    await clickAndRequest('#fetch', '/data')
    await given.do('click', { selector: '#go' })
    await clickAndRequest('#other', '/data')
    await beforeTheEnd('click', { selector: '#go' })
    expect(await given.evaluate('go.textContent')).toBe('Gone')
  })

  test('a click does not wait longer than its timeout for a page that never ends', async () => {
    await given.open('/links')
    await given.do('click', { selector: '#endless' })
    await given.do('click', { selector: '#go', timeout_ms: 300 })
    expect(await given.evaluate('go.textContent')).toBe('Gone')
    await given.do('press_key', { key: 'b' })
    expect(await given.evaluate('go.textContent')).toBe('b')
  })

  test('a URL is opened without waiting for a page that is being loaded', async () => {
    await navigate(ways['location.assign'])
    await given.do('navigate_to', { url: given.url('/') })
    expect(await value('get_title')).toBe('First')
  })
})
