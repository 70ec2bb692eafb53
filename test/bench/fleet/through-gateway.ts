/**
 * The cost of a gateway: the same calls to `bax serve`, and to a gateway with one worker, in processes of their own. The
 * commands also go through a proxy that does nothing else: the part of the cost that no gateway in Node can avoid. The
 * first one, `get_title`, is the cheapest there is, so that its ratio is the worst one.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { startRedis } from '../../support/redis.ts'
import { serveSite } from '../../support/site.ts'
import { inTurn, ms, ratio, type Row, type Table, type Timing } from '../measure.ts'

/** V8 has compiled most of what a call runs after some hundred calls. */
const rounds = 1000
/** Rounds for commands that take longer than `get_title`. */
const slowRounds = 300
const maxRatio = 1.25
const maxMs = 2
const leastThroughput = 0.8
const bytes = 10_000_000

/** The program in the checkout, which `npm run build` has made. */
const program = join(process.cwd(), 'dist', 'main.js')

interface Side {
  readonly url: string
  readonly sessionId: string
  readonly cdp: WebSocket
}

export async function measureGateway(): Promise<Table[]> {
  const [redis, folder] = await Promise.all([
    startRedis({ appendfsync: 'everysec' }),
    mkdtemp(join(tmpdir(), 'bax-bench-fleet-')),
  ])
  const site = await serveSite({
    '/': `<title>Home</title><h1>Home</h1><input id=name><button id=save>Save</button>${'<p>Some text of the page.</p>'.repeat(100)}`,
  })
  const secret = join(folder, 'secret')
  await writeFile(secret, randomBytes(48).toString('base64'), { mode: 0o600 })
  const children: ChildProcess[] = []
  const start = async (name: string, ...argv: string[]) => {
    const env = { ...process.env, BAX_STATE_DIR: join(folder, name) }
    const flags = ['--port', '0', '--allow-private', '127.0.0.1', '--log-format', 'json']
    const child = spawn(process.execPath, [program, ...argv, ...flags], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    children.push(child)
    let log = ''
    return new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        log += String(chunk)
        const url = /bax is listening on (http:\/\/[\d.:]+)/.exec(log)?.[1]
        if (url !== undefined) resolve(url)
      })
      child.once('exit', () => reject(new Error(`bax ${argv.join(' ')} has ended: ${log}`)))
    })
  }
  try {
    const fleet = ['--fleet', redis.url, '--secret-file', secret]
    await start('worker', 'worker', ...fleet)
    const proxy = fork(join(import.meta.dirname, 'proxy.program.mjs'), [await start('behind', 'serve')])
    children.push(proxy)
    const [proxyUrl] = (await once(proxy, 'message')) as [string]
    const page = `${site.url}/`
    const started = await post({ url: proxyUrl }, '/sessions', { start_url: page })
    const behind = { url: proxyUrl, sessionId: started['session_id']! }
    const sides = {
      direct: await openSide(await start('direct', 'serve'), page),
      gateway: await openSide(await start('gateway', 'serve', '--no-keys', ...fleet), page),
    }
    const { direct, gateway } = sides
    const commandRows: Row[] = []
    for (const [name, commands] of Object.entries(commandsOn(page))) {
      const run = (side: Pick<Side, 'url' | 'sessionId'>) =>
        post(side, '/commands', { session_id: side.sessionId, commands })
      const times = await compare({ direct, proxy: behind, gateway }, run, name === 'get_title' ? rounds : slowRounds)
      commandRows.push(commandRow(name, times))
    }
    const scrape = await compare(sides, (side) => post(side, '/v1/scrape', { url: page, render: 'http' }))
    const socket = await compare(sides, transfer, 20)
    for (const { cdp } of Object.values(sides)) cdp.terminate()
    const throughput = socket.direct.median / socket.gateway.median
    const rows: Row[] = [
      ...commandRows,
      row('static scrape', scrape, '', ratio(scrape.gateway, scrape.direct, maxRatio)),
      row(
        'websocket, 10 MB',
        socket,
        '',
        `${throughput.toFixed(2)}x throughput (at least ${leastThroughput}x${throughput < leastThroughput ? ', MISSED' : ''})`,
      ),
    ]
    const title = 'Through a gateway'
    const note =
      'The same calls to `bax serve`, and to a gateway with one worker; milliseconds, median (quartiles), once the servers are warm. A bare proxy in Node, which checks nothing, shows what another process costs at least.'
    return [{ title, columns: ['bax serve', 'bare proxy', 'gateway', 'ratio'], rows, note }]
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all([site.close(), redis.close()])
    await rm(folder, { recursive: true, force: true })
  }
}

const row = (name: string, times: Record<'direct' | 'gateway', Timing>, proxied: string, verdict: string): Row => ({
  name,
  cells: [ms(times.direct), proxied, ms(times.gateway), verdict],
})

function commandRow(name: string, times: Record<'direct' | 'proxy' | 'gateway', Timing>): Row {
  const added = times.gateway.median - times.direct.median
  const least = (times.proxy.median / times.direct.median).toFixed(2)
  const verdict = `${ratio(times.gateway, times.direct, maxRatio)}, + ${added.toFixed(1)} ms (at most ${maxMs} ms${added > maxMs ? ', MISSED' : ''})`
  return row(name, times, `${ms(times.proxy)}, ${least}x`, verdict)
}

/** Commands of a session, by name. */
function commandsOn(url: string): Record<string, readonly object[]> {
  const title = { command: 'get_title' }
  const click = { command: 'click', data: { selector: '#save' } }
  const type = { command: 'type_text', data: { selector: '#name', text: 'Ada', clear: true } }
  return {
    get_title: [title],
    click: [click],
    type_text: [type],
    navigate_to: [{ command: 'navigate_to', data: { url } }],
    'a batch of ten': Array.from({ length: 5 }, () => [type, click]).flat(),
  }
}

/** Compares servers that have run for a while: all calls are repeated as often before they are measured. */
async function compare<Name extends string, One>(
  sides: Record<Name, One>,
  call: (side: One) => Promise<unknown>,
  times = rounds,
): Promise<Record<Name, Timing>> {
  const all = Object.entries(sides) as [Name, One][]
  for (let at = 0; at < times; at++) for (const [, side] of all) await call(side)
  const cases = Object.fromEntries(all.map(([name, side]) => [name, () => call(side)]))
  return (await inTurn(cases, times)) as Record<Name, Timing>
}

async function openSide(url: string, page: string): Promise<Side> {
  const { session_id, cdp_url, frame_token } = await post({ url }, '/sessions', { start_url: page })
  const cdp = new WebSocket(`${cdp_url}?token=${frame_token}`, { perMessageDeflate: false })
  await once(cdp, 'open')
  const targets = await ask(cdp, 'Target.getTargets')
  const { targetId } = (targets['targetInfos'] as { targetId: string }[])[0]!
  const { sessionId } = await ask(cdp, 'Target.attachToTarget', { targetId, flatten: true })
  pageOf.set(cdp, sessionId as string)
  return { url, sessionId: session_id!, cdp }
}

/** CDP sessions of the pages. */
const pageOf = new WeakMap<WebSocket, string>()

/** Reads 10 MB from the page. */
const transfer = ({ cdp }: Side): Promise<unknown> =>
  ask(cdp, 'Runtime.evaluate', { expression: `'x'.repeat(${bytes})`, returnByValue: true }, pageOf.get(cdp))

let id = 0

async function ask(cdp: WebSocket, method: string, params = {}, sessionId?: string): Promise<Record<string, unknown>> {
  id += 1
  const own = id
  const answered = new Promise<Record<string, unknown>>((resolve, reject) => {
    const listen = (message: Buffer) => {
      const answer = JSON.parse(String(message)) as { id?: number; result?: Record<string, unknown>; error?: object }
      if (answer.id !== own) return
      cdp.off('message', listen)
      if (answer.result) resolve(answer.result)
      else reject(new Error(JSON.stringify(answer.error)))
    }
    cdp.on('message', listen)
  })
  cdp.send(JSON.stringify({ id: own, method, params, ...(sessionId && { sessionId }) }))
  return answered
}

async function post({ url }: Pick<Side, 'url'>, path: string, body: object): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as Record<string, string>
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer
}
