/** An engine and a plain Playwright browser with the same executable. */
import { setMaxListeners } from 'node:events'
import { createRequire } from 'node:module'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import type { Browser, BrowserType } from 'playwright'
import type { Call } from '../../src/core/operation/call.ts'
import { keylessCaller } from '../../src/core/access/caller.ts'
import type { Engine } from '../../src/core/engine.ts'
import type { SessionInput } from '../../src/core/shapes/session.ts'
import { sessionInput } from '../../src/core/shapes/session.ts'
import { createEngine } from '../../src/engine/index.ts'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'

export interface Side {
  readonly engine: Engine
  readonly playwright: Browser
  /** Creates a session with defaults; returns its ID. */
  createSession(): Promise<string>
  close(): Promise<void>
}

export const call: Call = {
  signal: new AbortController().signal,
  baseUrl: 'http://localhost',
  caller: keylessCaller,
  socketBaseUrl: null,
  requestId: 'req_bench',
}

// Sessions that run at the same time share it.
setMaxListeners(0, call.signal)

export async function openSides(): Promise<Side> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const config = { stateDir, cacheDir: join(stateDir, 'cache') }
  const engine = createEngine({
    ...config,
    home: 'server',
    display: false,
    writeAnywhere: true,
    allowPrivate: ['127.0.0.1'],
    log: () => {},
    pool: { contextsPerBrowser: 100 },
  })
  const { path } = await locateBrowser({ headless: true, stealth: false }, config)
  const { chromium } = createRequire(import.meta.url)('playwright') as { chromium: BrowserType }
  const playwright = await chromium.launch({
    executablePath: path,
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  const input: SessionInput = sessionInput.parse({})
  return {
    engine,
    playwright,
    async createSession() {
      const { session_id } = await engine.sessions.create(input, call)
      return session_id!
    },
    async close() {
      await Promise.all([engine.close(), playwright.close()])
      await rm(stateDir, { recursive: true, force: true })
    },
  }
}

/** Describes the warm pages of the pool. */
export const poolState = async (side: Side): Promise<string> => `${await warmPages(side)} warm pages in the pool`

/** Describes the age of a session. */
export async function sessionAge({ engine }: Side, id: string): Promise<string> {
  const { commands_run: commands } = await engine.sessions.get(id, call)
  return `a session of ${commands} commands`
}

async function warmPages({ engine }: Side): Promise<number> {
  const { browsers } = await engine.status()
  return browsers.reduce((sum, { warm }) => sum + warm, 0)
}

/** Waits until the number of warm pages no longer changes; returns when it changed last, by `performance.now()`. */
export async function poolAtRest(side: Side): Promise<number> {
  let count = await warmPages(side)
  let changedAt = performance.now()
  while (performance.now() - changedAt < restMs) {
    await wait(20)
    const now = await warmPages(side)
    if (now !== count) changedAt = performance.now()
    count = now
  }
  return changedAt
}

/** Longer than it takes to open a warm page. */
const restMs = 1000
