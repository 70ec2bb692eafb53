/**
 * Sends random and schema-derived requests to every route: no response is an internal error, and all errors have the
 * standard shape. `BAX_FUZZ` sets the number of requests; `BAX_FUZZ_SEED` repeats a run.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../src/core/engine.ts'
import { BaxError, type ErrorBody, errorTable } from '../../src/core/errors/errors.ts'
import { createEngine } from '../../src/engine/index.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts, privateGate } from '../../src/server/access/gate.ts'
import { type Listener, listen } from '../../src/server/process/listen.ts'
import { fuzzedRequest, fuzzedUpgrade } from '../support/fuzz.ts'
import { sendRaw } from '../support/raw-http.ts'

const many = Number(process.env['BAX_FUZZ'] ?? 3000)
const seed = process.env['BAX_FUZZ_SEED']
const settings = (share: number) => ({
  numRuns: Math.ceil(many * share),
  ...(seed !== undefined && { seed: Number(seed) }),
})
const timeout = 240_000 + many * 20

let stateDir: string
let real: Engine
let engine: Engine
let listener: Listener
const failures: string[] = []

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bax-fuzz-'))
  const config = { home: 'server', stateDir, cacheDir: stateDir, display: false, writeAnywhere: false } as const
  real = createEngine({ ...config, log: () => {}, shell: { dockerHost: `unix://${stateDir}/none.sock` } })
  engine = withoutWork(real)
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: null }
  const app = createApp({
    engine,
    gate,
    sockets: 'here',
    // Errors with details for the operator only, such as the address of Docker, are logged too but are not internal.
    onError: ({ status, cause }) => status === 500 && failures.push(String(cause)),
  })
  listener = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false })
})
afterAll(async () => {
  await listener.close()
  await real.close()
  await rm(stateDir, { recursive: true })
})

test(
  'no response is an internal error, and all errors have the standard shape',
  async () => {
    const app = createApp({
      engine,
      gate: privateGate,
      onError: ({ cause }) => failures.push(cause instanceof Error ? cause.stack! : String(cause)),
    })
    const counts = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(fuzzedRequest, async ({ method, target, headers, body }) => {
        const ended = new AbortController()
        const request = new Request(`http://127.0.0.1${target}`, {
          method,
          headers,
          signal: ended.signal,
          ...(body !== undefined && { body }),
        } as RequestInit)
        const response = await app.fetch(request)
        counts.set(response.status, (counts.get(response.status) ?? 0) + 1)
        await assertGood(response, method)
        ended.abort()
        expect(failures).toEqual([])
      }),
      settings(1),
    )
    // Enough requests were valid and reached the engine.
    for (const status of [200, 400, 404, 503]) expect(counts.get(status) ?? 0, String(status)).toBeGreaterThan(0)
    if (process.env['BAX_FUZZ']) process.stderr.write(`${JSON.stringify(Object.fromEntries(counts))}\n`)
  },
  timeout,
)

test(
  'the server responds to any request head and keeps running',
  async () => {
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'a'.repeat(22) + '==',
    }
    const sent = fc.oneof(
      fuzzedRequest,
      fuzzedUpgrade.map((request) => ({ ...request, headers: { ...upgrade, ...request.headers } })),
    )
    await fc.assert(
      fc.asyncProperty(sent, async (request) => {
        const answer = await sendRaw(Number(new URL(listener.address).port), request)
        expect(answer.status, answer.text).not.toBe(500)
        if (answer.status >= 400 && answer.text !== '' && request.method !== 'HEAD') assertShape(answer)
        expect(failures).toEqual([])
      }),
      settings(0.1),
    )
    expect((await fetch(`${listener.address}/healthz`)).status).toBe(200)
  },
  timeout,
)

/** Wraps the engine so that valid requests do not create sessions, pages, crawls or keys. */
function withoutWork(whole: Engine): Engine {
  const refused = async () => {
    throw new BaxError('no_capacity', 'nothing is begun here')
  }
  const other = <Part extends object>(part: Part, methods: Record<string, unknown>): Part =>
    new Proxy(part, {
      get(_, name) {
        const own = methods[name as string] ?? Reflect.get(part, name, part)
        return typeof own === 'function' ? own.bind(part) : own
      },
    })
  const onlyKnown = (method: 'runCommands' | 'step') => async (request: { session_id?: string }, call: never) =>
    request.session_id === undefined ? refused() : whole.sessions[method](request as never, call)
  return {
    ...whole,
    keys: other(whole.keys, { create: refused }),
    extractor: { scrape: refused, parse: refused },
    searcher: { search: refused },
    requests: { send: refused },
    code: { run: refused },
    crawls: other(whole.crawls, { crawl: refused, map: refused }),
    readiness: refused,
    sessions: other(whole.sessions, {
      create: refused,
      runCommands: onlyKnown('runCommands'),
      step: onlyKnown('step'),
    }),
  }
}

async function assertGood(response: Response, method: string): Promise<void> {
  expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  if (response.status < 400) return response.body?.cancel()
  const text = await response.text()
  expect(response.status, text).not.toBe(500)
  if (method !== 'HEAD') assertShape({ status: response.status, text, id: response.headers.get('x-request-id')! })
}

function assertShape({ status, text, id }: { status: number; text: string; id?: string | undefined }): void {
  const body = JSON.parse(text) as ErrorBody
  expect(body).toMatchObject({ success: false, message: body.error, request_id: id ?? expect.stringMatching(/^req_/) })
  expect(typeof body.error).toBe('string')
  expect(body.error).not.toBe('')
  expect(errorTable[body.code].status).toBe(status)
  expect(text.length).toBeLessThan(20_000)
}
