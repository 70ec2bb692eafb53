import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { connectBrowser } from '../support/relay.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import type { CommandResult } from '../../src/core/shapes/commands.ts'

/** Timeout of an action, in milliseconds: long enough for its input to reach the page on a busy machine. */
const timeout_ms = 2900
/** The same for an action that has nothing to wait for. */
const shortMs = 2000

/** A synchronous request keeps the page as busy as a loop, without using the processor. */
const script = `<script>
  window.count = 0
  const block = (path = '/busy') => { const request = new XMLHttpRequest(); request.open('GET', path, false); request.send() }
</script>`
const style = '<style>body{margin:0} .cover{position:fixed;inset:0;background:#eee}</style>'

const pages = {
  '/removed': `${script}<button id=b onclick="count++; this.remove(); block()">Buy</button>`,
  '/covered-after': `${style}${script}<button id=b onclick="count++; const d = document.createElement('div'); d.className = 'cover'; document.body.append(d); block()">Buy</button>`,
  '/covered': `${style}${script}<button id=b onclick="count++">Buy</button><div class=cover id=ov></div>`,
  '/navigates': `${script}<button id=b onclick="location.href = '/covered'">Go</button>`,
  '/dialog': `${script}<button id=b onclick="count++; alert('a'); confirm('b'); this.remove(); block()">Ask</button>`,
  '/replaced': `${script}<div id=box><button id=b>Buy</button></div><script>
    const renew = () => { box.innerHTML = '<button id=b>Buy</button>'; b.onclick = () => { count++; renew(); block() } }
    renew(); setTimeout(renew, 50); setTimeout(renew, 100)</script>`,
  '/down': `${script}<button id=b onmousedown="count++; this.remove(); block()">Buy</button>`,
  '/hangs': `${script}<button id=b onclick="block('/never?code=4711')">Work</button><i hidden>Work</i>`,
  '/select': `${script}<select id=s onchange="count++; block()"><option>a<option>b</select>`,
  '/check': `${script}<input type=checkbox id=c onclick="count++; return false">
    <input type=checkbox id=d onclick="count++; this.remove(); block()">`,
  '/keys': `${script}<input id=i onkeydown="count++; this.remove(); block()"><input id=v oninput="count++; block()" value=old>`,
  '/half': `<input id=i oninput="if (value.length === 5) this.remove()"><input id=full oninput="if (value.length === 5) this.remove()">`,
  '/drag': `${script}<style>div{width:50px;height:50px;background:#ccc;margin:20px}</style>
    <div id=from onmousedown="count++; to.style.display = 'none'">a</div><div id=to>b</div>`,
  '/hover': `${script}<button id=b onmousemove="count++; this.remove(); block()">Menu</button>`,
  '/frame': `<iframe id=f src=/removed></iframe>`,
  '/shadow': `${script}<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<button id=b>Buy</button>'
    host.shadowRoot.querySelector('#b').onclick = (event) => { count++; event.target.remove(); block() }</script>`,
  // Until the action has timed out, and the page is asked whether the input has reached it.
  '/busy': (_, response) => void setTimeout(() => response.end(), timeout_ms + 100),
  '/never': () => {},
} satisfies Parameters<typeof serveSite>[0]

let site: Site
let homes: Homes
const client = () => homes.clients.embedded

beforeAll(async () => {
  ;[site, homes] = await Promise.all([serveSite(pages), openHomes()])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

type Step = [command: string, data?: Record<string, unknown>]

/** Sessions to close after each group: a browser has 25 slots. */
const opened = new Set<string>()
const open = async (more: object = {}) => {
  const { session_id } = await client().createSession({ headless: true, ...more })
  opened.add(session_id!)
  return session_id!
}
const closeOpened = async () => {
  for (const session_id of opened)
    await client()
      .closeSession({ session_id })
      .catch(() => {})
  opened.clear()
}

/** Opens a page and runs one command that fails. */
async function failing(id: string, path: string, [command, data = {}]: Step): Promise<CommandResult> {
  const { results } = await client().runCommands({
    session_id: id,
    commands: [
      { command: 'navigate_to', data: { url: site.url + path } },
      { command, data },
    ],
  } as never)
  expect(results[0]).toMatchObject({ success: true })
  expect(results[1], JSON.stringify(results[1])).toMatchObject({ success: false, command })
  return results[1]!
}

async function count(id: string): Promise<unknown> {
  const commands = [{ command: 'evaluate', data: { expression: 'window.count' } }]
  const { results } = await client().runCommands({ session_id: id, commands } as never)
  return (results[0]!.data!['result'] as { value: unknown }).value
}

const delivered = (noun: string) => ({
  code: 'timeout',
  // The request that keeps the page busy may have ended.
  error: expect.stringMatching(
    new RegExp(`^the ${noun} was delivered, but the page did not settle in time(?:; pending: GET \\S+/busy)?$`),
  ) as string,
  details: { delivered: true },
})

describe('an action whose input has reached the page', () => {
  afterAll(closeOpened)

  test.for<[string, Step, string]>([
    ['/removed', ['click', { selector: '#b', timeout_ms }], 'click'],
    ['/covered-after', ['click', { selector: '#b', timeout_ms }], 'click'],
    ['/dialog', ['click', { selector: '#b', timeout_ms }], 'click'],
    ['/replaced', ['click', { selector: '#b', timeout_ms }], 'click'],
    ['/down', ['click_advanced', { selector: '#b', timeout_ms }], 'click'],
    ['/shadow', ['click', { selector: '#b', timeout_ms }], 'click'],
    ['/select', ['select_option', { selector: '#s', values: ['b'], timeout_ms }], 'selection'],
    ['/check', ['check', { selector: '#d', timeout_ms }], 'check'],
    ['/keys', ['press_key', { selector: '#i', key: 'a', timeout_ms }], 'key press'],
    ['/keys', ['clear', { selector: '#v', timeout_ms }], 'clearing'],
    ['/hover', ['hover', { selector: '#b', timeout_ms }], 'hover'],
    ['/drag', ['drag_to', { selector: '#from', target_selector: '#to', timeout_ms }], 'drag'],
  ])('%s: %j', async ([path, step, noun], { expect }) => {
    const id = await open()
    expect(await failing(id, path, step)).toMatchObject(delivered(noun))
    expect(await count(id)).toBe(1)
  })

  test('click in a frame', async ({ expect }) => {
    const step: Step = ['click', { selector: 'frame=#f >> #b', timeout_ms }]
    expect(await failing(await open(), '/frame', step)).toMatchObject(delivered('click'))
  })
})

describe('an action whose input has not reached the page', () => {
  afterAll(closeOpened)

  test.for<[string, Step, string]>([
    ['/covered', ['click', { selector: '#b', timeout_ms: shortMs }], 'element_obscured'],
    ['/covered', ['click', { selector: '#nothing', timeout_ms: shortMs }], 'element_not_found'],
    ['/covered', ['press_key', { selector: '#nothing', key: 'a', timeout_ms: shortMs }], 'element_not_found'],
    ['/covered', ['type_text', { selector: '#nothing', text: 'a', timeout_ms: shortMs }], 'element_not_found'],
    ['/covered', ['select_option', { selector: '#nothing', values: ['a'], timeout_ms: shortMs }], 'element_not_found'],
    ['/covered', ['click', { selector: 'ref=e999' }], 'stale_ref'],
    ['/covered', ['click_at', { x: -5, y: 5 }], 'invalid_data'],
  ])('%s: %j is %s', async ([path, step, code], { expect }) => {
    const id = await open()
    expect(await failing(id, path, step)).toMatchObject({ code, details: { delivered: false } })
    expect(await count(id)).toBe(0)
  })

  test('an extraction does not report delivery', async ({ expect }) => {
    const { details } = await failing(await open(), '/covered', [
      'get_text',
      { selector: '#nothing', timeout_ms: shortMs },
    ])
    expect(details).not.toHaveProperty('delivered')
  })
})

describe('reports of delivery', () => {
  afterAll(closeOpened)

  test('a checkbox that the page unchecks again was clicked', async ({ expect }) => {
    const id = await open()
    const result = await failing(id, '/check', ['check', { selector: '#c', timeout_ms }])
    expect(result).toMatchObject({ code: 'action_failed', details: { delivered: true } })
    expect(await count(id)).toBe(1)
  })

  test('typing into a field that is removed reports how many characters were typed', async ({ expect }) => {
    const id = await open()
    const result = await failing(id, '/half', ['type_text', { selector: '#i', text: 'eleven chars' }])
    expect(result).toMatchObject({
      code: 'element_detached',
      error: '#i was removed from the page after 5 of 12 characters',
      details: { delivered: true, typed: 5, characters: 12 },
    })
    const whole = { command: 'type_text', data: { selector: '#full', text: 'fünf5' } }
    expect(await client().runCommands({ session_id: id, commands: [whole] } as never)).toMatchObject({ success: true })
  })

  test('a page that hangs longer than the check leaves the outcome unknown', async ({ expect }) => {
    // One of several matches, which Playwright clicks.
    const result = await failing(await open(), '/hangs', ['click', { selector: 'text=Work', timeout_ms }])
    expect(result).toMatchObject({ code: 'timeout', details: { outcome: 'unknown' } })
    expect(result.details).not.toHaveProperty('delivered')
  })

  test('a page that reports a click before it hangs has received it', async ({ expect }) => {
    const result = await failing(await open(), '/hangs', ['click', { selector: '#b', timeout_ms }])
    expect(result).toMatchObject({ code: 'timeout', details: { delivered: true } })
    expect(result.error).toBe(
      `the click was delivered, but the page did not settle in time; pending: GET ${site.url}/never?code=[redacted]`,
    )
  })

  test('a batch that times out during click_at reports the click as delivered', async ({ expect }) => {
    const id = await open({ start_url: `${site.url}/down` })
    const answer = await client().runCommands({
      session_id: id,
      commands: [{ command: 'click_at', data: { x: 12, y: 12 } }],
      timeout_ms,
    } as never)
    expect(answer.results[0]).toMatchObject(delivered('click'))
  })

  test('a click that navigates succeeds', async ({ expect }) => {
    const id = await open({ start_url: `${site.url}/navigates` })
    const commands = [{ command: 'click', data: { selector: '#b' } }]
    const { error, success } = await client().runCommands({ session_id: id, commands } as never)
    expect({ error, success }).toEqual({ error: undefined, success: true })
  })
})

describe('in other pages', () => {
  afterAll(closeOpened)

  const click: Step = ['click', { selector: '#b', timeout_ms }]

  test('reports a click in a cross-site frame as delivered', async () => {
    const other = site.url.replace('127.0.0.1', 'localhost')
    const outer = await serveSite({ '/': `<iframe id=f src="${other}/removed"></iframe>` })
    try {
      const id = await open({ start_url: outer.url })
      const commands = [{ command: 'click', data: { selector: 'frame=#f >> #b', timeout_ms } }]
      const { results } = await client().runCommands({ session_id: id, commands } as never)
      expect(results[0]).toMatchObject(delivered('click'))
    } finally {
      await outer.close()
    }
  })

  test("reports a click in the caller's browser as delivered, by cdp_url and through the relay", async () => {
    const foreign = await startForeignBrowser()
    const connected = await connectBrowser({ browser: foreign.url, engine: `unix:${homes.stateDir}/test.sock` })
    try {
      await waitUntil(async () => (await homes.clients.unix.getRelay({ id: connected.id })).active_target_id !== null)
      const remote = await open({ cdp_url: foreign.url })
      expect(await failing(remote, '/removed', click)).toMatchObject(delivered('click'))
      await client().closeSession({ session_id: remote })
      expect(await failing(connected.id, '/removed', click)).toMatchObject(delivered('click'))
    } finally {
      await connected.stop()
      await foreign.close()
    }
  })
})
