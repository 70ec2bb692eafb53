/** Details for the operator (paths, programs, addresses, settings) are logged, and shown to the machine's own user only. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../support/client.ts'
import { embedded } from '../../src/client/transport.ts'
import type { Engine } from '../../src/core/engine.ts'
import type { BaxError } from '../../src/core/errors/errors.ts'
import { createEngine } from '../../src/engine/index.ts'
import { operations } from '../../src/operations/index.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts, privateGate } from '../../src/server/access/gate.ts'

let stateDir: string
let engine: Engine
let own: Client
let remote: Client
const logged: BaxError[] = []

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'bax-operator-'))
  engine = createEngine({
    home: 'server',
    stateDir,
    cacheDir: stateDir,
    display: false,
    writeAnywhere: false,
    browser: '/nonexistent/chromium',
    builtinExtractor: false,
    search: { order: ['searxng'], providers: { searxng: { url: 'http://127.0.0.2:9' } } },
    shell: { dockerHost: `unix://${stateDir}/docker.sock` },
    log: () => {},
  })
  const addressed = Object.entries(operations).map(([name, { http }]) => ({ name, http }))
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: null }
  const inside = createApp({ engine, gate: privateGate })
  const outside = createApp({ engine, gate, onError: (error) => void logged.push(error) })
  own = createClient(
    embedded((request) => inside.fetch(request)),
    addressed,
  )
  remote = createClient(
    embedded((request) =>
      outside.fetch(new Request(request, { headers: { ...Object.fromEntries(request.headers), host: 'localhost' } })),
    ),
    addressed,
  )
})
afterAll(async () => {
  await engine?.close()
  await rm(stateDir, { recursive: true, force: true })
})

const cases: readonly [code: string, hidden: RegExp, ask: (client: Client) => Promise<unknown>][] = [
  ['browser_not_found', /\/nonexistent\/chromium/, (client) => client.createSession({})],
  ['docker_unavailable', /docker\.sock/, (client) => client.createShell({})],
  ['docker_unavailable', /docker\.sock/, (client) => client.listShellImages({})],
  [
    'model_not_configured',
    /BAX_MODEL_URL/,
    (client) => client.scrape({ url: 'http://example.com', formats: ['json'] }),
  ],
]

test.each(cases)(
  '%s has full details for the own user, and none about the server for other callers',
  async (code, hidden, ask) => {
    const failure = (client: Client) =>
      ask(client).then(
        () => expect.unreachable(),
        ({ code: given, message, hint, details }: BaxError) => ({
          code: given,
          text: JSON.stringify({ message, hint, details }),
        }),
      )
    const [full, public_] = [await failure(own), await failure(remote)]
    expect([full.code, public_.code]).toEqual([code, code])
    expect(full.text).toMatch(hidden)
    expect(public_.text).not.toMatch(hidden)
    expect(public_.text).not.toContain(stateDir)
    expect(public_.text).not.toMatch(/BAX_|sudo|apt|doctor|DOCKER_HOST/)
    const { message, hint, details } = logged.at(-1)!
    expect(JSON.stringify({ message, hint, details })).toMatch(hidden)
  },
)
