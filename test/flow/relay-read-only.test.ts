/** Commands in a browser that its user shares read-only: reading ones work and change nothing, others are denied. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeManifest } from '../../src/operations/manifest.ts'
import { parseBatch } from '../../src/lines/parse-batch.ts'
import type { Client } from '../support/client.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type ConnectedBrowser, connectBrowser } from '../support/relay.ts'
import { command } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

/** Reports everything that changes in the document, and every property that is added to the window. */
const page = `<title>Account</title><h1 id=h class=big>Account</h1><input id=q value=text><p>Balance: 12</p><div style="height:3000px"></div>
<script>
  console.log('loaded')
  const known = new Set(Object.getOwnPropertyNames(window))
  window.changes = []
  new MutationObserver((records) => changes.push(...records.map(({ type, target }) => type + ' ' + target.nodeName)))
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  for (const type of ['resize', 'focus', 'blur', 'keydown', 'mousedown', 'beforeprint']) addEventListener(type, () => changes.push(type))
  window.added = () => Object.getOwnPropertyNames(window).filter((name) => !known.has(name) && !['changes', 'added'].includes(name))
  document.cookie = 'theme=dark'
  localStorage.plan = 'free'
</script>`

const heading = { selector: '#h' }

/** Data of the reading commands; all other commands are denied. */
const reading: Record<string, Record<string, unknown> | undefined> = {
  get_content: {},
  get_text: heading,
  get_attribute: { ...heading, attribute: 'class' },
  get_title: {},
  get_url: {},
  get_value: { selector: '#q' },
  get_styles: heading,
  get_state: heading,
  get_html: {},
  get_basic_info: heading,
  find_similar: { ...heading, fingerprint: { tag: 'h1', name: 'Account' } },
  count_elements: { selector: 'p' },
  find_text: { text: 'Balance' },
  get_console: {},
  get_errors: {},
  get_bounding_boxes: { selector: 'p' },
  get_element_bounding_box: heading,
  inspect_element: heading,
  screenshot: {},
  element_screenshot: heading,
  print_to_pdf: {},
  get_cookies: {},
  get_local_storage: {},
  get_session_storage: {},
  capture_state: {},
  list_tabs: {},
  list_routes: {},
  list_requests: {},
  get_vitals: {},
  extract_structured_content: { query: 'the balance' },
  wait_for: { text: 'Balance' },
  wait_for_element: heading,
  wait_for_navigation: {},
  verify: { ...heading, text: 'Account' },
}

/** Reading commands that cannot succeed: the clipboard belongs to the user, no request was recorded, and WebMCP is off. */
const unavailable = new Set(['read_clipboard', 'get_request', 'list_page_tools'])

/** The other commands, as an example of each calls them. */
const manifest = makeManifest()
const others = manifest.commands
  .filter(({ name }) => !(name in reading) && !unavailable.has(name))
  .map(({ name, examples }) => parseBatch([name, ...wordsOf(examples[0]!)], manifest, '/').commands![0]!)

function wordsOf(example: string): string[] {
  return [...example.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, bare]) => one ?? two ?? bare!)
}

let homes: Homes
let site: Site
let foreign: ForeignBrowser
let connected: ConnectedBrowser
/** Ends responses for which a page waits. */
const held: (() => void)[] = []
const client = (): Client => homes.clients.unix

/** Shares the browser of a user who looks at a page. */
async function share(browser: ForeignBrowser, path: string): Promise<ConnectedBrowser> {
  await browser.evaluate('about:blank', `location.href = ${JSON.stringify(`${site.url}${path}`)}`)
  const engine = `unix:${homes.stateDir}/test.sock`
  const shared = await connectBrowser({ browser: browser.url, engine, policy: 'read-only' })
  await waitUntil(async () => (await client().getRelay({ id: shared.id })).active_target_id !== null)
  return shared
}

beforeAll(async () => {
  ;[homes, site, foreign] = await Promise.all([
    openHomes(),
    serveSite({
      '/account': page,
      '/asks': '<p>Sure?</p>',
      '/held': (_, response) => void held.push(() => response.end()),
    }),
    startForeignBrowser(),
  ])
  connected = await share(foreign, '/account')
})
afterAll(async () => {
  await connected?.stop()
  await homes?.close()
  await foreign?.close()
  await site?.close()
})

const changes = () => foreign.evaluate('/account', 'changes.splice(0).concat(added())')

async function run(name: string, data: Record<string, unknown> | undefined) {
  const commands = [command(name, data)]
  return (await client().runCommands({ session_id: connected.id, commands })).results[0]!
}

describe('a browser that is shared read-only', () => {
  test.each(Object.keys(reading))('is read with %s, and its page does not change', async (name) => {
    await changes()
    expect(await run(name, reading[name])).toMatchObject({ success: true })
    // Playwright hides the text cursor in screenshots for a moment, and printing is an event of the page.
    const own = name.includes('screenshot') ? ['attributes INPUT'] : name === 'print_to_pdf' ? ['beforeprint'] : []
    expect(await changes()).toSatisfy((seen: string[]) => seen.every((change) => own.includes(change)))
  })

  test('has the values of its page', async () => {
    const of = async (name: string, data?: Record<string, unknown>) => (await run(name, data)).data?.['result']
    expect(await of('get_title')).toMatchObject({ value: 'Account' })
    expect(await of('get_text', heading)).toMatchObject({ value: 'Account' })
    expect(await of('get_cookies')).toMatchObject({ value: [{ name: 'theme', value: 'dark' }] })
    expect(await of('get_local_storage')).toMatchObject({ value: { plan: 'free' } })
  })

  test('has observations, and steps that only read', async () => {
    const session_id = connected.id
    expect(JSON.stringify(await client().observe({ session_id }))).toContain('Balance: 12')
    expect(await client().browserStep({ session_id, ...command('get_title') })).toMatchObject({ success: true })
  })

  test.each(others)('denies $command', async ({ command: name, data }) => {
    await changes()
    const denied = await run(name, data as Record<string, unknown>)
    expect(denied).toMatchObject({ success: false, code: 'method_denied', error: expect.stringContaining(name) })
    expect(await changes()).toEqual([])
  })

  test('denies a condition that is code, and names it', async () => {
    const denied = await run('wait_for', { function: 'document.title = "x"' })
    expect(denied).toMatchObject({ code: 'method_denied', error: expect.stringContaining('code of the caller') })
  })

  test('leaves dialogs to its user', async () => {
    await using other = await shareAnother('/asks')
    expect(await other.read()).toMatchObject({ success: true })
    await other.evaluate(ask)
    await waitUntil(async () => (await other.read()).code === 'dialog_blocking')
    expect(await other.read()).toMatchObject({ code: 'dialog_blocking' })
  })

  test('is not waited for when a dialog is open in it from the beginning', async () => {
    await using other = await shareAnother('/asks')
    await other.evaluate(ask)
    await waitUntil(async () => ((await other.events()) as { events: unknown[] }).events.length > 0)
    expect(await other.read()).toMatchObject({
      code: 'timeout',
      results: [{ hint: expect.stringContaining('dialog') }],
    })
  })

  test('is read again after its page has answered again', async () => {
    await using other = await shareAnother('/asks')
    await other.evaluate(
      'void setTimeout(() => { const call = new XMLHttpRequest(); call.open("GET", "/held", false); call.send() })',
    )
    await waitUntil(() => held.length > 0)
    expect(await other.read()).toMatchObject({ code: 'timeout' })
    for (const end of held) end()
    await waitUntil(async () => (await other.read()).success)
  })
})

/** Opens a dialog in a task of its own. */
const ask = 'void setTimeout(() => confirm("Sure?"))'

async function shareAnother(path: string) {
  const browser = await startForeignBrowser()
  const shared = await share(browser, path)
  return {
    evaluate: (expression: string) => browser.evaluate(path, expression),
    read: () => client().runCommands({ session_id: shared.id, commands: [command('get_text', { selector: 'p' })] }),
    /** Returns the dialogs that have opened. */
    events: () => client().readRelayEvents({ id: shared.id, type: ['dialog'] }),
    async [Symbol.asyncDispose]() {
      await shared.stop()
      await browser.close()
    },
  }
}
