/** Cost of the relay compared with a direct connection, over loopback and over a slow link. */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserType, Page } from 'playwright'
import { WebSocket } from 'ws'
import { type Client, createClient } from '../support/client.ts'
import { overHttp } from '../../src/client/transport.ts'
import { createEngine } from '../../src/engine/index.ts'
import { operations } from '../../src/operations/index.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts, privateGate } from '../../src/server/access/gate.ts'
import { listen } from '../../src/server/process/listen.ts'
import { type ForeignBrowser, startForeignBrowser } from '../support/foreign-browser.ts'
import { connectBrowser, type ConnectedBrowser } from '../support/relay.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'
import { inTurn, ms, msTitle, ratio, type Table, type Timing, timing } from './measure.ts'

const { chromium } = createRequire(import.meta.url)('playwright') as { chromium: BrowserType }

/** Fixtures: a server over HTTP, a browser started by hand, a site. */
interface Fixtures {
  readonly client: Client
  readonly address: string
  readonly foreign: ForeignBrowser
  readonly site: Site
  readonly token: string
}

const flood = `<!doctype html><title>Flood</title><button>Press</button><script>
async function flood() {
  const start = performance.now()
  for (let round = 0; round < 50; round++) {
    for (let at = 0; at < 100; at++) console.log('message', round, at, {round, at})
    await Promise.all(Array.from({length: 10}, (_, at) => fetch('/small?' + round + '.' + at).then((answer) => answer.text())))
  }
  return performance.now() - start
}</script>`

export async function measure(): Promise<Table[]> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const config = { stateDir, cacheDir: join(stateDir, 'cache'), display: false, writeAnywhere: true, log: () => {} }
  const engine = createEngine({ ...config, home: 'server' })
  const gate = { ...privateGate, hosts: loopbackHosts }
  const app = createApp({ engine, gate, sockets: 'here' })
  const server = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false })
  const [foreign, site] = await Promise.all([
    startForeignBrowser(),
    serveSite({ '/': '<title>Page</title><button>Press</button>', '/small': 'small', '/flood': flood }),
  ])
  const client = createClient(
    overHttp(server.address),
    Object.entries(operations).map(([name, { http }]) => ({ name, http })),
  )
  try {
    const { token } = await client.createRelayToken({})
    const fixtures: Fixtures = { client, address: server.address, foreign, site, token }
    return [await calls(fixtures), await far(fixtures), await floods(fixtures), await measureFailures(fixtures)]
  } finally {
    await engine.close()
    await Promise.all([server.close(), foreign.close(), site.close()])
    await rm(stateDir, { recursive: true, force: true })
  }
}

async function connect({ client, foreign, token, address }: Fixtures, engine = address): Promise<ConnectedBrowser> {
  const connected = await connectBrowser({ browser: foreign.url, engine, token })
  await waitUntil(async () => (await client.getRelay({ id: connected.id })).active_target_id !== null)
  return connected
}

/** The same client, connected to the browser's port and through the relay. */
async function calls(fixtures: Fixtures): Promise<Table> {
  const { client, foreign, site } = fixtures
  const connected = await connect(fixtures)
  await client.cdp({ session_id: connected.id, method: 'Page.navigate', params: { url: site.url } })
  const { cdp_url: relayUrl } = await client.getRelay({ id: connected.id })
  const [direct, through] = await Promise.all([openCdp(await browserSocket(foreign)), openCdp(relayUrl!)])
  const many = (to: CdpClient, expression: string, times: number) => async () => {
    for (let at = 0; at < times; at++) await to.evaluate(expression)
  }
  const times = await inTurn(
    {
      'evaluate, direct': many(direct, '1 + 1', 50),
      'evaluate, relay': many(through, '1 + 1', 50),
      '10 MB, direct': many(direct, '"x".repeat(10 * 1024 * 1024)', 1),
      '10 MB, relay': many(through, '"x".repeat(10 * 1024 * 1024)', 1),
    },
    15,
  )
  direct.close()
  through.close()
  await connected.stop()
  const row = (name: string, to: string, most?: number) => {
    const [of, base] = [times[name]!, times[to]!]
    return { name, cells: [ms(of), most === undefined ? '1x' : ratio(of, base, most)] }
  }
  return {
    title: 'Calls through the relay',
    columns: [msTitle, 'to the direct one'],
    rows: [
      row('evaluate, direct', 'evaluate, direct'),
      row('evaluate, relay', 'evaluate, direct', 2),
      row('10 MB, direct', '10 MB, direct'),
      row('10 MB, relay', '10 MB, direct', 1.5),
    ],
    note: 'Fifty evaluations in a row, and one result of 10 MB; browser, connector, server and client on one machine.',
  }
}

/** A link that delays everything by 25 ms in each direction. */
async function far(fixtures: Fixtures): Promise<Table> {
  const { client, site } = fixtures
  const roundTripMs = 50
  const slow = await slowWay(fixtures.address, roundTripMs / 2)
  const connected = await connect(fixtures, slow.address)
  await client.cdp({ session_id: connected.id, method: 'Page.navigate', params: { url: site.url } })
  const click = { session_id: connected.id, commands: [{ command: 'click', data: { selector: 'button' } }] }
  const evaluate = { session_id: connected.id, method: 'Runtime.evaluate', params: { expression: '1' } }
  const times = await inTurn(
    {
      evaluate: () => client.cdp(evaluate),
      click: async () => {
        const { success, error } = await client.runCommands(click)
        if (!success) throw new Error(error)
      },
    },
    15,
  )
  await connected.stop()
  await slow.close()
  const trips = (of: Timing, most: number) => {
    const count = of.median / roundTripMs
    return `${count.toFixed(1)} (at most ${most}${count <= most ? '' : ', MISSED'})`
  }
  return {
    title: `Over a link of ${roundTripMs} ms round trip`,
    columns: [msTitle, 'round trips'],
    rows: [
      { name: 'POST /cdp Runtime.evaluate', cells: [ms(times['evaluate']!), trips(times['evaluate']!, 2)] },
      { name: 'POST /commands click', cells: [ms(times['click']!), trips(times['click']!, 3)] },
    ],
  }
}

/** 5000 messages and 500 requests: how long the page takes with and without the relay next to Playwright. */
async function floods(fixtures: Fixtures): Promise<Table> {
  const { client, foreign, site } = fixtures
  const [alone, beside]: [number[], number[]] = [[], []]
  let kept = { messages: Infinity, requests: Infinity, dropped: 0 }
  const browser = await chromium.connectOverCDP(foreign.url, { noDefaults: true })
  const page = await openFlood(browser, site)
  await run(page)
  for (let round = 0; round < 7; round++) {
    alone.push(await run(page))
    const connected = await connect(fixtures)
    // A page with messages repeats them to new clients.
    const count = async () => {
      const read = (query: object) => client.readRelayEvents({ id: connected.id, limit: 10_000, ...query })
      const [messages, requests] = await Promise.all([
        read({ kind: ['console'], type: ['log'], since }),
        read({ kind: ['network'], type: ['finished'], url: '**/small?*', since }),
      ])
      const dropped = (await client.getRelay({ id: connected.id })).events.dropped['total']!
      return { messages: lengthOf(messages), requests: lengthOf(requests), dropped }
    }
    const { events } = await settled(client, connected.id)
    const since = events.last_seq
    beside.push(await run(page))
    await waitUntil(async () => {
      const now = await count()
      return (now.messages >= 5000 && now.requests >= 500) || now.dropped > 0
    })
    const now = await count()
    kept = {
      messages: Math.min(kept.messages, now.messages),
      requests: Math.min(kept.requests, now.requests),
      dropped: kept.dropped + now.dropped,
    }
    await connected.stop()
  }
  await browser.close()
  const [of, to] = [timing(beside), timing(alone)]
  return {
    title: 'A flood of 5000 messages and 500 requests',
    columns: [msTitle, 'to Playwright alone', 'kept'],
    rows: [
      { name: 'Playwright alone', cells: [ms(to), '1x', ''] },
      {
        name: 'Playwright, and the relay collecting',
        cells: [ms(of), ratio(of, to, 1.3), `${kept.messages} + ${kept.requests}, ${kept.dropped} dropped`],
      },
    ],
  }
}

const run = (page: Page): Promise<number> => page.evaluate('flood()') as Promise<number>
const lengthOf = (page: object): number => (page as { events: unknown[] }).events.length

async function openFlood(browser: Browser, site: Site): Promise<Page> {
  const [page] = browser.contexts()[0]!.pages()
  // Like a program that reads its page.
  page!.on('console', (message) => message.text())
  page!.on('requestfinished', (request) => request.url())
  await page!.goto(`${site.url}/flood`)
  return page!
}

/** Returns the record once no more events arrive. */
async function settled(client: Client, id: string) {
  for (let last = -1; ;) {
    const record = await client.getRelay({ id })
    if (record.events.last_seq === last) return record
    last = record.events.last_seq
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

/** How soon the relay is reconnected, and whether a hanging tab delays new clients. */
async function measureFailures(fixtures: Fixtures): Promise<Table> {
  const { client, foreign, site } = fixtures
  const way = await slowWay(fixtures.address, 0)
  const connected = await connect(fixtures, way.address)
  const back: number[] = []
  for (let round = 0; round < 10; round++) {
    way.cut()
    await waitUntil(async () => (await client.getRelay({ id: connected.id })).status === 'reconnecting')
    way.heal()
    const start = performance.now()
    await waitUntil(async () => (await client.getRelay({ id: connected.id })).status === 'connected')
    back.push(performance.now() - start)
  }
  const made = await client.cdp({ session_id: connected.id, method: 'Target.createTarget', params: { url: site.url } })
  const hung = made.result!['targetId'] as string
  const hang = { method: 'Runtime.evaluate', params: { expression: 'for (;;) {}' } }
  await client.cdp({ session_id: connected.id, target_id: hung, timeout_ms: 100, ...hang }).catch(() => undefined)
  await waitUntil(async () => {
    const { targets } = await client.getRelay({ id: connected.id })
    return targets.some(({ target_id: id, responsive }) => id === hung && !responsive)
  })
  const attach: number[] = []
  for (let round = 0; round < 7; round++) {
    const { cdp_url: url } = await client.getRelay({ id: connected.id })
    const start = performance.now()
    const browser = await chromium.connectOverCDP(url!)
    attach.push(performance.now() - start)
    await browser.close()
  }
  await connected.stop()
  await way.close()
  // A hanging page does not close by itself; the browser ends with the measurement.
  void foreign
  const formatLimit = (all: number[]) => {
    const most = Math.max(...all)
    return `${most.toFixed(0)} (at most 1000${most <= 1000 ? '' : ', MISSED'})`
  }
  return {
    title: 'Faults',
    columns: [msTitle, 'longest'],
    rows: [
      { name: 'from the healing of the link to connected', cells: [ms(timing(back)), formatLimit(back)] },
      { name: 'connectOverCDP with one hung tab', cells: [ms(timing(attach)), formatLimit(attach)] },
    ],
  }
}

/** A proxy to an address with a delay, which can be interrupted. */
async function slowWay(address: string, oneWayMs: number) {
  const port = Number(new URL(address).port)
  const sockets = new Set<Socket>()
  let open = true
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from)
    const later = (then: () => void) => (oneWayMs > 0 ? setTimeout(then, oneWayMs) : then())
    from.setNoDelay()
    from.on('data', (chunk) => later(() => to.writable && to.write(chunk)))
    from.on('close', () => later(() => to.destroy()))
    from.on('error', () => {})
  }
  const server = createServer((near) => {
    if (!open) return near.destroy()
    const upstream = dial(port, '127.0.0.1')
    pass(near, upstream)
    pass(upstream, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const drop = () => {
    for (const socket of sockets) socket.resetAndDestroy()
    sockets.clear()
  }
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      open = false
      drop()
    },
    heal: () => {
      open = true
    },
    close: async () => {
      drop()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface CdpClient {
  /** Evaluates in the first page, and resolves with the whole response. */
  evaluate(expression: string): Promise<unknown>
  close(): void
}

/** Minimal CDP calls, the same over both connections. */
async function openCdp(url: string): Promise<CdpClient> {
  const socket = new WebSocket(url, { maxPayload: 0, perMessageDeflate: false })
  const waiting = new Map<number, (result: Record<string, unknown>) => void>()
  let lastId = 0
  socket.on('message', (data: Buffer) => {
    const { id, result } = JSON.parse(data.toString()) as { id?: number; result: Record<string, unknown> }
    if (id !== undefined) waiting.get(id)?.(result)
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const send = (method: string, params: object, sessionId?: string) =>
    new Promise<Record<string, unknown>>((resolve) => {
      waiting.set(++lastId, resolve)
      socket.send(JSON.stringify({ id: lastId, method, params, ...(sessionId && { sessionId }) }))
    })
  const { targetInfos } = await send('Target.getTargets', {})
  const page = (targetInfos as { targetId: string; type: string }[]).find(({ type }) => type === 'page')!
  const { sessionId } = await send('Target.attachToTarget', { targetId: page.targetId, flatten: true })
  return {
    evaluate: (expression) => send('Runtime.evaluate', { expression, returnByValue: true }, sessionId as string),
    close: () => socket.close(),
  }
}

async function browserSocket({ url }: ForeignBrowser): Promise<string> {
  const answer = await fetch(`${url}/json/version`)
  return ((await answer.json()) as { webSocketDebuggerUrl: string }).webSocketDebuggerUrl
}
