/** Overhead of a server for the same work in process: access checks, rate limits, log, metrics and HTTP. */
import { type Client, createClient } from '../support/client.ts'
import { embedded, overHttp, type Transport } from '../../src/client/transport.ts'
import { allowancesOf } from '../../src/core/access/quota.ts'
import { operations } from '../../src/operations/index.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts, privateGate } from '../../src/server/access/gate.ts'
import { RateLimiter } from '../../src/core/access/rate-limiter.ts'
import { serve } from '../../src/server/process/serve.ts'
import { serveSite } from '../support/site.ts'
import { openSides } from './engines.ts'
import { inTurn, ms, ratio, type Row, type Table } from './measure.ts'

const text = 'Rivers carry what the hills have let go of, and lay it down where they grow slow. '.repeat(5)
const paragraphs = Array.from({ length: 30 }, (_, at) => `<h2>Part ${at}</h2><p>${text}</p>`).join('')
const page = `<!doctype html><title>Rivers</title><main><h1>Rivers</h1><button>0</button>${paragraphs}</main>`
const batch = ['get_title', 'click', 'get_text', 'evaluate', 'click', 'get_text', 'hover', 'get_title'].map(
  (command) => ({
    command,
    data: { get_title: {}, evaluate: { expression: '6 * 7' } }[command] ?? { selector: 'button' },
  }),
)

/** Maximum ratio to the time that the same work takes in process. */
const maxRatio = 1.15
const rounds = 60

type Work = (client: Client) => Promise<unknown>

export async function measure(): Promise<Table[]> {
  const [site, side] = await Promise.all([serveSite({ '/': page }), openSides()])
  const stop = new AbortController()
  const { engine } = side
  let listening = (_url: string) => {}
  const url = new Promise<string>((resolve) => (listening = resolve))
  const { key } = await engine.keys.create({ name: 'bench', scopes: ['admin'] })
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: engine.keys }
  // Everything is counted; nothing is rejected.
  const allowances = allowancesOf({ rate: 1e6, burst: 1e6 })
  const served = serve({
    engine,
    gate,
    allowances,
    address: { host: '127.0.0.1', port: 0 },
    log: (_level, message) => void (message.startsWith('bax is listening on ') && listening(message.slice(20))),
    drainMs: 1000,
    signal: stop.signal,
  })
  try {
    const headers = { 'x-api-key': key }
    const rateLimited = createApp({ engine, gate, rates: new RateLimiter(allowances) })
    const plain = createApp({ engine, gate: privateGate })
    const clients = {
      embedded: clientOf(embedded((request) => plain.fetch(request))),
      rateLimited: clientOf(
        withHeaders(
          embedded((request) => rateLimited.fetch(request)),
          { ...headers, host: 'localhost' },
        ),
      ),
      http: clientOf(overHttp(await url, headers)),
    }
    const session_id = await side.createSession()
    const open = { command: 'navigate_to', data: { url: site.url } }
    const cases: Record<string, Work> = {
      'static scrape': (client) => client.scrape({ url: site.url, render: 'http' }),
      'rendered scrape': (client) => client.scrape({ url: site.url, render: 'browser' }),
      'a page opened': (client) => client.runCommands({ session_id, commands: [open] }),
      'eight commands in a batch': (client) => client.runCommands({ session_id, commands: batch }),
    }
    const rows: Row[] = []
    for (const [name, work] of Object.entries(cases)) {
      const inOrder = Object.fromEntries(Object.entries(clients).map(([way, client]) => [way, () => work(client)]))
      const times = await inTurn(inOrder, rounds)
      const [bare, gated, http] = [times['embedded']!, times['rateLimited']!, times['http']!]
      rows.push({ name, cells: [ms(bare), ms(gated), ratio(gated, bare, maxRatio), ms(http), ratio(http, bare)] })
    }
    return [
      {
        title: 'The gate, rates and keys of a server, and HTTP',
        columns: ['embedded', 'behind the gate', 'ratio', 'bax serve over HTTP', 'ratio'],
        note: 'Milliseconds, median (quartiles), in turn; client, server and engine in one process; all through the proxy.',
        rows,
      },
    ]
  } finally {
    stop.abort('the measurement is over')
    await served
    await Promise.all([side.close(), site.close()])
  }
}

const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))
const clientOf = (transport: Transport): Client => createClient(transport, addressed)

const withHeaders = (transport: Transport, headers: Record<string, string>): Transport => ({
  ...transport,
  send: (request) => transport.send({ ...request, headers: { ...request.headers, ...headers } }),
})
