/** Tests that commands act on the page that is being loaded, not on the one that it replaces. */
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

const sites = {
  '/': page('First', 'checkbox'),
  '/second': (
    _request: unknown,
    response: { end(body: string): void; setHeader(name: string, value: string): void },
  ) => {
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

  test('a URL is opened without waiting for a page that is being loaded', async () => {
    await navigate(ways['location.assign'])
    await given.do('navigate_to', { url: given.url('/') })
    expect(await value('get_title')).toBe('First')
  })
})
