/**
 * Kills a part of the browser at any message of any operation. `BAX_TEST_KILLS=200` runs that many random rounds for
 * each part; a failure prints the seed, which `BAX_TEST_SEED` repeats.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BaxError, type ErrorCode, errorTable } from '../../src/core/errors/errors.ts'
import { anyOperation, type AnyOperation, type OperationSite, serveOperationSite } from '../support/any-operation.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type KillTarget, Messages } from '../support/kills.ts'
import { chromiumProcesses } from '../support/processes.ts'
import { command } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

const rounds = Number(process.env['BAX_TEST_KILLS'] ?? 0)
const seed = Number(process.env['BAX_TEST_SEED'] ?? Date.now() % 2 ** 31)

let homes: Homes
let site: OperationSite
let operations: Record<string, AnyOperation>
let messages: Messages
const logged: string[] = []

beforeAll(async () => {
  messages = new Messages()
  site = await serveOperationSite()
  const log = (level: string, text: string, facts: unknown) =>
    void logged.push(`${level} ${text} ${JSON.stringify(facts)}`)
  homes = await openHomes({ allowPrivate: ['127.0.0.0/8'], search: site.search, log })
  operations = anyOperation(homes, site)
})
afterAll(async () => {
  await homes.close()
  await site.close()
  messages.close()
  await waitUntil(async () => (await chromiumProcesses('browser')).length === 0)
})

const client = () => homes.clients.http
const create = async () => (await client().createSession({ start_url: `${site.url}/form` })).session_id!

interface Seen {
  readonly codes: Set<string>
  readonly texts: Set<string>
}

/** Collects the codes and the messages of a response. */
function collect(value: unknown, seen: Seen): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'code' && typeof inner === 'string') seen.codes.add(inner)
    if (/^(?:error|message|warning|reason|not_delivered)$/.test(name) && typeof inner === 'string')
      seen.texts.add(inner)
    collect(inner, seen)
  }
}

/** Returns the codes and messages of a call; anything but a BaxError fails the test. */
async function outcome(work: Promise<unknown>): Promise<Seen> {
  const seen: Seen = { codes: new Set(), texts: new Set() }
  try {
    collect(await work, seen)
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    collect({ ...error.toBody() }, seen)
  }
  return seen
}

/** Words of Chromium, Playwright, Node and Docker, which no caller may see. */
const foreign =
  /\b[A-Z][A-Za-z]+\.[a-z][A-Za-z]+: |\b(?:browserContext|page|locator|frame|cdpSession|browserType)\.\w|Protocol error|[Tt]arget (?:page|closed|crashed|navigated)|has been closed|\bE(?:CONN|PIPE|NOENT|IO|ACCES)[A-Z]*\b|given id|session closed|socket hang up|Cannot find context|[Cc]ontext was destroyed|was detached|Internal error|Unable to capture|Printing failed|chrome-error/

function expectOwnWords({ codes, texts }: Seen): void {
  const wrong = [...codes].filter((code) => !Object.hasOwn(errorTable, code) || code === 'internal_error')
  expect({ wrong, foreign: [...texts].filter((text) => foreign.test(text)) }).toEqual({ wrong: [], foreign: [] })
}

/** Codes of later parts of an operation that miss what an earlier one should have made, and of operations themselves. */
const always: readonly ErrorCode[] = ['skipped', 'conflict', 'file_not_found', 'element_not_found']
const lostPage: readonly ErrorCode[] = ['page_crashed', 'target_closed', 'navigation_aborted', 'worker_lost']
const lostBrowser: readonly ErrorCode[] = ['worker_lost', 'session_closed', 'browser_failed', 'page_crashed']

/** The codes that fit each cause. */
const fitting: Record<KillTarget, readonly ErrorCode[]> = {
  browser: lostBrowser,
  renderer: lostPage,
  // A page that was loaded again has lost its history.
  crash: [...lostPage, 'navigation_failed'],
  // The last tab of a session cannot be closed.
  tab: [...lostPage, 'action_failed'],
  // Chromium never answers a call for cookies that its network service had received.
  network: [
    'timeout',
    'connection_failed',
    'navigation_aborted',
    'navigation_failed',
    'evaluate_failed',
    'search_unavailable',
  ],
  // Chromium ends after several such crashes.
  'gpu-process': [...lostBrowser, 'action_failed'],
}

/** Number of messages of each operation when nothing is killed. */
const lengths = new Map<string, number>()

async function lengthOf(name: string): Promise<number> {
  const known = lengths.get(name)
  if (known !== undefined) return known
  const id = await create()
  const before = messages.count
  await operations[name]!({ id })
  lengths.set(name, messages.count - before)
  await client().closeSession({ session_id: id })
  return messages.count - before
}

/** Kills the target after this share of the operation's messages, and checks what callers get then and afterwards. */
async function round(target: KillTarget, name: string, share: number): Promise<void> {
  const length = await lengthOf(name)
  const id = await create()
  logged.length = 0
  try {
    messages.killAt(Math.ceil(share * length), target)
    const seen = await outcome(operations[name]!({ id }))
    messages.killNow()
    expectOwnWords(seen)
    const unfitting = [...seen.codes].filter((code) => !fitting[target].concat(always).includes(code as ErrorCode))
    expect(unfitting, [...seen.texts].join('; ')).toEqual([])
    await expectUsable(id)
  } finally {
    await client().closeSession({ session_id: id })
  }
  await waitUntil(async () => (await client().getEngineStatus({})).sessions === 0)
}

/** Expects that the session works again after it has reported the loss of its page, or that it has ended. */
async function expectUsable(id: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const seen = await outcome(client().runCommands({ session_id: id, commands: [command('get_title')] }))
    expectOwnWords(seen)
    if (seen.codes.size === 0 || seen.codes.has('session_closed')) return
    expect(attempt, [...seen.texts].join()).toBeLessThan(5)
  }
}

/** Moments that were reported wrongly once. */
const examples: Record<KillTarget, [string, number][]> = {
  browser: [
    ['recording', 0.3],
    ['live view', 0.7],
    ['crawl', 0.6],
  ],
  renderer: [
    ['render one host', 0.2],
    ['pdf', 0.9],
    ['trace', 0.5],
  ],
  crash: [['render with actions', 0.9]],
  tab: [
    ['render', 0.5],
    ['observe', 0.5],
  ],
  network: [['navigate', 0.5]],
  'gpu-process': [['screenshot', 0.6]],
}

describe.skipIf(process.platform !== 'linux').each(Object.keys(fitting) as KillTarget[])('%s', (target) => {
  test(
    'that is killed fails operations with a fitting code, and the next ones work',
    { timeout: 240_000 + rounds * 60_000 },
    async () => {
      const moment = fc.tuple(fc.constantFrom(...Object.keys(operations)), fc.double({ min: 0, max: 1.1, noNaN: true }))
      const property = fc.asyncProperty(moment, ([name, share]) => round(target, name, share))
      const known = examples[target].map((example): [[string, number]] => [example])
      await fc.assert(property, { seed, numRuns: rounds + known.length, examples: known, endOnFailure: true })
    },
  )
})
