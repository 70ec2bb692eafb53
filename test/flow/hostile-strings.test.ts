/**
 * Hostile text in every string of every operation, browser command and header, against a server with a real browser and
 * real containers. `BAX_HOSTILE_SECS=600` tests all pairs of a field and a text for that time;
 * `BAX_HOSTILE_SEED` repeats a run, `BAX_HOSTILE_ONLY=createShell` tests only fields with that in their name.
 */
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/core/engine.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import { createEngine } from '../../src/engine/index.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts } from '../../src/server/access/gate.ts'
import { type Listener, listen } from '../../src/server/process/listen.ts'
import { busybox } from '../support/shell.ts'
import { shellConfig } from '../support/docker.ts'
import {
  cdpTargets,
  commandTargets,
  encoded,
  hostileTexts,
  type HostileRequest,
  type Known,
  operationTargets,
  readHeaders,
  type Target,
} from '../support/hostile-strings.ts'
import { sendRaw } from '../support/raw-http.ts'
import { serveSite, type Site } from '../support/site.ts'

const secs = Number(process.env['BAX_HOSTILE_SECS'] ?? 0)
const seed = Number(process.env['BAX_HOSTILE_SEED'] ?? 14)
const only = process.env['BAX_HOSTILE_ONLY'] ?? ''
/** Number of concurrent requests; those to one session queue. */
const concurrency = 6
/** Number of texts per field in a short run. */
const textsPerField = 1
const timeout = 240_000 + secs * 2000

/** Allowed error codes of unavailable services; all other responses from 500 on are bugs. */
const allowedErrors = new Set(['search_unavailable', 'no_capacity'])
/** A field with the URL of a browser that does not exist. */
const absentBrowser = 'createSession cdp_url'

let stateDir: string
let engine: Engine
let listener: Listener
let site: Site
let canary: Server
let texts: readonly string[]
const visits: string[] = []
const failures: string[] = []
/** Records a failure; prints it at once in a long run. */
function fail(failure: string): void {
  failures.push(failure)
  if (secs > 0) process.stderr.write(`${failure}\n`)
}
const uncaught = (error: unknown) => void fail(`uncaught: ${String((error as Error)?.stack ?? error)}`)

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bax-hostile-'))
  canary = createServer((socket) => {
    visits.push(`a connection from port ${socket.remotePort}`)
    socket.on('error', () => {})
    socket.destroy()
  })
  await new Promise<void>((resolve) => canary.listen(0, '::', resolve))
  texts = hostileTexts((canary.address() as AddressInfo).port)
  site = await serveSite(
    {
      '/': '<!doctype html><title>Page</title><main><h1>Page</h1><p>Some text.</p><input><select><option>x</select></main>',
      '/search': (_, response) => response.setHeader('content-type', 'application/json').end('{"results":[]}'),
    },
    '127.0.0.2',
  )
  engine = createEngine({
    home: 'server',
    stateDir,
    cacheDir: stateDir,
    display: false,
    writeAnywhere: false,
    // Only the site: the address of the canary is blocked.
    allowPrivate: ['127.0.0.2'],
    lookup: async (host) => {
      throw Object.assign(new Error(`no such host: ${host}`), { code: 'ENOTFOUND' })
    },
    search: { order: ['searxng'], providers: { searxng: { url: site.url } } },
    shell: { ...shellConfig, warm: 0 },
    log: (level, message, facts) => {
      if (level === 'error') fail(`${message} ${JSON.stringify(facts)}`)
    },
  })
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: null }
  const onFault = ({ status, cause }: BaxError) => {
    if (status === 500) fail(cause instanceof Error ? cause.stack! : String(cause))
  }
  const app = createApp({ engine, gate, sockets: 'here', onError: onFault })
  listener = await listen(app, { host: '127.0.0.1', port: 0 }, { engine, gate, own: false })
  process.on('uncaughtException', uncaught)
  process.on('unhandledRejection', uncaught)
})
afterAll(async () => {
  await listener?.close()
  await engine?.close()
  await site?.close()
  process.off('uncaughtException', uncaught)
  process.off('unhandledRejection', uncaught)
  await new Promise((resolve) => canary.close(resolve))
  await rm(stateDir, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  readonly text: string
  readonly body: Record<string, unknown>
}

async function ask(method: string, target: string, body?: unknown): Promise<Answer> {
  const ended = new AbortController()
  const response = await fetch(listener.address + target, {
    method,
    signal: ended.signal,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(method === 'PUT' && { body: 'bytes' }),
  })
  // An open stream does not end.
  const endless = /event-stream|ndjson/.test(response.headers.get('content-type') ?? '')
  const text = endless ? '' : await response.text()
  if (endless) ended.abort()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, text, body: isJson && text ? (JSON.parse(text) as Record<string, unknown>) : {} }
}

let known: Known

/** Creates the sessions that requests need again when a text has ended one. */
async function refresh(): Promise<void> {
  const isAlive = async (path: string, id: unknown) =>
    id !== undefined && ['ready'].includes(String((await ask('GET', `${path}/${id}`)).body['status']))
  let { session_id: browser } = known?.browser ?? {}
  if (!(await isAlive('/sessions', browser))) {
    const made = await ask('POST', '/sessions', { headless: true, start_url: `${site.url}/` })
    browser = made.body['session_id']
  }
  let shell: Record<string, unknown> = known?.shell ?? {}
  if (busybox.absent === null && !(await isAlive('/shell/sessions', shell['session_id']))) {
    const made = await ask('POST', '/shell/sessions', { image: busybox.image })
    const { session_id } = made.body
    const exec = await ask('POST', '/shell/exec', {
      session_id,
      command: 'cat',
      keep_stdin: true,
      background: true,
      timeout_secs: 3600,
    })
    shell = { session_id, exec_id: exec.body['exec_id'] }
  }
  known = { browser: { session_id: browser }, shell, url: `${site.url}/` }
}

async function checkResponse({ place }: HostileRequest, text: string, answer: Answer): Promise<void> {
  const shown = `${place} = ${JSON.stringify(text).slice(0, 120)} -> ${answer.status} ${answer.text.slice(0, 400)}`
  const isExcused = answer.status === 503 && (allowedErrors.has(String(answer.body['code'])) || place === absentBrowser)
  if (answer.status >= 500 && !isExcused) fail(`5xx: ${shown}`)
  if (/"code":"internal_error"/.test(answer.text)) fail(`internal_error: ${shown}`)
  // The stack of a script of the page may be shown.
  if (/node:internal|node_modules|\/(?:src|dist)\/[\w/-]+\.[cm]?[jt]s/.test(answer.text)) fail(`stack: ${shown}`)
  if (answer.text.includes(stateDir)) fail(`path of the server: ${shown}`)
  const { code, details } = answer.body
  if (code === 'invalid_request' && !details) fail(`no field: ${shown}`)
}

/** Removes what a request has created. */
async function discard({ target }: HostileRequest, { status, body }: Answer): Promise<void> {
  if (status >= 300) return
  const { session_id: id, provision_id: provision } = body
  if (target === '/sessions' && provision !== undefined) await ask('DELETE', `/sessions/provision/${provision}`)
  if (target === '/sessions' && id !== undefined) await ask('DELETE', `/sessions/${id}`)
  if (target === '/shell/sessions' && id !== undefined) await ask('DELETE', `/shell/sessions/${id}`)
}

/** Shuffles the items; the order depends on the seed. */
function shuffled<T>(items: readonly T[]): T[] {
  let state = seed
  const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) / 0x80000000
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** Returns every field with a few different texts each, or with all texts in a long run. */
function pairsOf(targets: readonly Target[]): { target: Target; text: string }[] {
  const selected = targets.filter(({ place }) => place.includes(only))
  const order = shuffled(texts)
  return shuffled(
    selected.flatMap((target, at) => {
      const own =
        secs > 0
          ? order
          : Array.from({ length: textsPerField }, (_, nth) => order[(at * textsPerField + nth) % order.length]!)
      return own.map((text) => ({ target, text }))
    }),
  )
}

async function attack(targets: readonly Target[], share: number): Promise<number> {
  const pairs = pairsOf(targets)
  const until = secs > 0 ? performance.now() + secs * 1000 * share : Infinity
  let sent = 0
  await refresh()
  const work = async () => {
    for (let pair = pairs.pop(); pair && performance.now() < until; pair = pairs.pop()) {
      const request = pair.target.request(pair.text, known)
      const start = performance.now()
      const answer = await ask(request.method, request.target, request.body).catch((error: unknown) => {
        fail(
          `no answer: ${request.place} = ${JSON.stringify(pair.text).slice(0, 120)}: ${String((error as Error).cause ?? error)}`,
        )
      })
      const ms = performance.now() - start
      if (secs > 0 && ms > 10_000)
        process.stderr.write(`slow: ${Math.round(ms)} ms ${request.place} ${JSON.stringify(pair.text).slice(0, 80)}\n`)
      if (!answer) continue
      await checkResponse(request, pair.text, answer)
      await discard(request, answer)
      sent += 1
      if (answer.status === 410 || sent % 200 === 0) await refresh()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  if (secs > 0) process.stderr.write(`${sent} requests, ${pairs.length} left\n`)
  return sent
}

const expectUnharmed = async () => {
  expect(failures).toEqual([])
  expect(visits, 'connections to the canary').toEqual([])
  expect((await fetch(`${listener.address}/healthz`)).status).toBe(200)
}

describe.skipIf(busybox.absent !== null)(`hostile text: ${busybox.absent ?? ''}`, () => {
  test(
    'in a string of any operation is refused or harmless',
    async () => {
      expect(await attack(operationTargets(), 0.5)).toBeGreaterThan(only ? -1 : 50)
      await expectUnharmed()
    },
    timeout,
  )

  test(
    'in a string of any browser command or call of CDP is refused or harmless',
    async () => {
      expect(await attack([...commandTargets(), ...cdpTargets()], 0.4)).toBeGreaterThan(only ? -1 : 50)
      await expectUnharmed()
    },
    timeout,
  )

  test(
    'in a header or the URL of a websocket is refused or harmless',
    async () => {
      const { port } = new URL(listener.address)
      await refresh()
      const upgrade = {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'a'.repeat(22) + '==',
      }
      const id = known.browser['session_id']
      const requests = shuffled(
        texts.flatMap((text) => [
          ...readHeaders.map((name) => ({
            place: `header ${name}`,
            text,
            method: 'POST',
            target: '/sessions/x',
            headers: { [name]: text },
          })),
          {
            place: 'header idempotency-key',
            text,
            method: 'POST',
            target: '/v1/crawl',
            headers: { 'idempotency-key': text, 'content-type': 'application/json' },
          },
          {
            place: 'header last-event-id',
            text,
            method: 'GET',
            target: `/stream/sse?session_id=${id}`,
            headers: { 'last-event-id': text },
          },
          {
            place: 'websocket token',
            text,
            method: 'GET',
            target: `/sessions/${id}/cdp?token=${encoded(text)}`,
            headers: upgrade,
          },
          {
            place: 'websocket id',
            text,
            method: 'GET',
            target: `/relay/sessions/${encoded(text)}/cdp`,
            headers: upgrade,
          },
        ]),
      )
      for (const { place, text, ...request } of secs > 0 ? requests : requests.slice(0, 200)) {
        const answer = await sendRaw(Number(port), request)
        await checkResponse({ place, method: '', target: '' }, text, { ...answer, body: {} })
      }
      await expectUnharmed()
    },
    timeout,
  )
})
