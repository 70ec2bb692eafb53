/** Pages that send the engine more than it can use: sessions of other keys must not notice. */
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openStream } from '../../src/client/client.ts'
import { limits } from '../../src/core/limits/limits.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KeyHolder, keyHolder } from '../support/owned-objects.ts'
import { command, open } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitFor, waitUntil } from '../support/wait.ts'

/** Runs a script forever, a little at a time. */
const often = (script: string) => `setInterval(() => { for (let n = 0; n < 200; n += 1) { ${script} } }, 1)`
const inWorker = (script: string) =>
  `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(script)}], { type: 'text/javascript' })))`

/** The scripts start after the page has loaded, and has said so to the site. */
const floods: Record<string, string> = {
  'console messages without end': 'for (;;) console.log("x".repeat(1000))',
  'console messages with objects': often('console.log({ n, document })'),
  'console messages of a worker': inWorker('for (;;) console.log("x".repeat(1000))'),
  'console messages of frames':
    'for (let n = 0; n < 5; n += 1) document.body.append(Object.assign(document.createElement("iframe"), { srcdoc: "<script>setInterval(() => { for (let n = 0; n < 200; n += 1) console.log(n) }, 1)</" + "script>" }))',
  errors:
    'setInterval(() => { for (let n = 0; n < 200; n += 1) setTimeout(() => { throw new Error("x".repeat(1000)) }) }, 1)',
  'rejected promises': often('Promise.reject(new Error("no"))'),
  alerts: 'setInterval(() => { alert("once more"); confirm("sure?"); prompt("why?") }, 1)',
  'print dialogs': 'setInterval(() => print(), 1)',
  'entries of the history': often('history.pushState({}, "", "?" + Math.random())'),
  anchors: often('location.hash = Math.random()'),
  titles: often('document.title = "x".repeat(1000) + Math.random()'),
  'messages to itself': often('postMessage("x".repeat(1000), "*")'),
  requests: 'setInterval(() => { for (let n = 0; n < 20; n += 1) fetch("/?" + Math.random()).catch(() => {}) }, 1)',
  'data URLs': often('fetch("data:,x")'),
  websockets:
    'setInterval(() => { for (let n = 0; n < 5; n += 1) new WebSocket("ws://" + location.host + "/none") }, 1)',
  workers: `setInterval(() => ${inWorker('1')}.terminate(), 20)`,
  frames:
    'setInterval(() => { const frame = document.createElement("iframe"); document.body.append(frame); setTimeout(() => frame.remove(), 5) }, 1)',
  windows: 'setInterval(() => window.open("/?" + Math.random()), 5)',
  'requests for permissions': often(
    'Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {}, () => {})',
  ),
  'changes of the document': often(
    'document.body.append("x".repeat(100)); if (document.body.childNodes.length > 1000) document.body.textContent = ""',
  ),
  downloads:
    'setInterval(() => { const link = document.createElement("a"); link.href = URL.createObjectURL(new Blob(["x".repeat(1000)])); link.download = "a.txt"; link.click() }, 1)',
  beacons: often('navigator.sendBeacon("/?" + Math.random(), "x".repeat(1000))'),
  'navigations of frames':
    'const frame = document.body.appendChild(document.createElement("iframe")); setInterval(() => { frame.src = "/?" + Math.random() }, 1)',
  'messages between pages': often('new BroadcastChannel("all").postMessage("x".repeat(1000))'),
  'choosers of files':
    'const file = Object.assign(document.createElement("input"), { type: "file" }); setInterval(() => file.click(), 1)',
  cookies: often('document.cookie = "a" + (n % 50) + "=" + Math.random()'),
  reloads: 'setTimeout(() => location.reload(), 5)',
  'a script without end': 'for (;;);',
}

/** Console messages of a burst. */
const messages = 3000

/** Sends further bursts until one is enough: on a slow machine all messages of one may stay within the limit. */
const bursts = `let sent = 0
  const burst = async () => {
    for (let n = 0; n < ${messages}; n += 1) console.log(sent++)
    if (await (await fetch(location.origin + '/is-enough')).text() === 'no') void burst()
  }
  void burst()`

const paths = Object.keys(floods).map((name, at) => ({ name, path: `/flood-${at}` }))
/** Returns before the script begins, which may block the page for good. */
const said = 'const begun = new XMLHttpRequest(); begun.open("GET", location.origin + "/begun", false); begun.send()'
const after = (script: string) =>
  `<!doctype html><title>Flood</title><body><script>addEventListener('load', () => setTimeout(() => { ${said}; ${script} }, 20))</script>`

let homes: Homes
let site: Site
let hostile: KeyHolder
let other: KeyHolder
let session: string
/** Number of floods that have begun in the test. */
let begun = 0
/** Requests of pages that ask whether their burst is enough. */
const asked: ServerResponse[] = []

beforeAll(async () => {
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': '<!doctype html><title>Home</title><button onclick="document.title = \'Clicked\'">Click</button>',
      ...Object.fromEntries(paths.map(({ name, path }) => [path, after(floods[name]!)])),
      '/burst': after(bursts),
      '/worker-burst': after(inWorker(bursts)),
      '/begun': (_, response) => {
        begun += 1
        response.end()
      },
      '/is-enough': (_, response) => void asked.push(response),
    }),
  ])
  ;[hostile, other] = [await keyHolder(homes), await keyHolder(homes)]
  session = (await other.client.createSession({ headless: true })).session_id!
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

/** Starts a flood in a new session. Its own command may fail: the page keeps its browser busy. */
async function startFlood(path: string): Promise<string> {
  const session_id = (await hostile.client.createSession({ headless: true })).session_id!
  void open(hostile.client, session_id, site.url + path).catch(() => {})
  return session_id
}

test.each(paths)('a page that floods $name does not disturb another key', async ({ path }) => {
  begun = 0
  const flooding = [await startFlood(path), await startFlood(path)]
  onTestFinished(async () => {
    await Promise.all(flooding.map((session_id) => hostile.client.closeSession({ session_id })))
  })
  await waitUntil(() => begun >= 2)
  const commands = [
    command('navigate_to', { url: site.url }),
    command('click', { selector: 'button' }),
    command('get_title'),
  ]
  for (let round = 0; round < 3; round += 1) {
    const { success, results } = await other.client.runCommands({ session_id: session, commands })
    expect({ success, results }).toMatchObject({ success: true })
    expect(results[2]).toMatchObject({ data: { result: { value: 'Clicked' } } })
  }
  expect((await other.client.listSessions({ status: 'all' })).sessions).toMatchObject([{ status: 'ready' }])
})

test.each([['/burst'], ['/worker-burst']])('messages of %s that are dropped are counted in notices', async (path) => {
  const session_id = (await hostile.client.createSession({ headless: true })).session_id!
  const input = { session_id, types: 'console', replay: 'all' }
  const stream = (await openStream(hostile.transport, 'GET /stream/sse', input))!
  void open(hostile.client, session_id, `${site.url}${path}`)
  let [sent, kept, dropped] = [messages, 0, 0]
  for await (const event of stream) {
    const text = String((event as unknown as { data: { text: string } }).data.text)
    const count = Number(/^bax: dropped (\d+) console messages/.exec(text)?.[1] ?? 0)
    if (count > 0) dropped += count
    else kept += 1
    if (kept + dropped < sent) continue
    expect(kept + dropped).toBe(sent)
    const response = await waitFor('the question', () => asked.shift())
    response.end(dropped > 0 ? 'yes' : 'no')
    if (dropped > 0) break
    sent += messages
  }
  expect(dropped).toBeGreaterThan(0)
  await hostile.client.closeSession({ session_id })
})

test('keys do not share browsers, whose number is limited', async () => {
  const own = await openHomes({
    pool: { warm: 0, processes: 2, browsers: 1, contextsPerBrowser: limits.pool.contextsPerBrowser },
  })
  const [first, second, third] = [await keyHolder(own), await keyHolder(own), await keyHolder(own)]
  const create = ({ client }: KeyHolder) => client.createSession({ headless: true })
  const workerOf = async ({ client }: KeyHolder) =>
    (await client.listSessions({})).sessions.map(({ worker_id }) => worker_id)
  try {
    const made = [await create(first), await create(first), await create(second)]
    expect(made.map(({ status }) => status)).toEqual(['ready', 'ready', 'ready'])
    const [a, again] = await workerOf(first)
    expect(again).toBe(a)
    expect(await workerOf(second)).not.toContain(a)
    const { status, provision_id } = await create(third)
    expect(status).toBe('provisioning')
    await second.client.closeSession({ session_id: made[2]!.session_id! })
    const ready = await waitFor('a browser of its own', async () => {
      const record = await third.client.getProvision({ provision_id: provision_id! })
      return record.status === 'ready' ? record : null
    })
    expect(ready.session_id).toMatch(/^ses_/)
    expect(await workerOf(third)).not.toContain(a)
    // The browser of the second key, which had no session, has ended for it.
    expect((await create(second)).status).toBe('provisioning')
  } finally {
    await own.close()
  }
})
