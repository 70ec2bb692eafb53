/** API calls about crawls, and the stream of their events. */
import { setTimeout as after } from 'node:timers/promises'
import type { Calls, FrameOf, Unchecked } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type {
  CrawlAccepted,
  CrawlAccounts,
  CrawlEventData,
  CrawlEventType,
  CrawlState,
} from '../../core/shapes/crawl.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import type { Context } from '../context.ts'
import type { Reader } from '../output/reader.ts'

/** Timeout for a cancelled crawl to end, in milliseconds. */
export const endMs = 20_000

export type CrawlCalls = ReturnType<typeof crawlCalls>

export function crawlCalls(engine: LocatedEngine, id: string) {
  const { ask, kind } = engine
  return {
    id,
    /** Returns the state of the crawl with up to `limit` pages. */
    state: (skip: number, limit: number, signal?: AbortSignal) =>
      ask('getCrawl', { id, skip, limit }, { signal, strict: true }),
    accounts: () => ask('getCrawlErrors', { id }, { strict: true }),
    cancel: (signal?: AbortSignal) => ask('cancelCrawl', { id }, { signal, strict: true }),
    /** Cancels the crawl unless it has ended. */
    async end(signal: AbortSignal): Promise<void> {
      try {
        await ask('cancelCrawl', { id }, { signal, strict: true })
      } catch (error) {
        if (!(error instanceof BaxError && error.code === 'conflict')) throw error
      }
    },
    /** Yields the events of some types after `since` up to the last one. */
    events: (since: number, types: readonly CrawlEventType[], signal: AbortSignal) => {
      const retryMs = kind === 'server' ? limits.stream.reconnectMs : 0
      return followCrawl({ engine, id, types, retryMs }, since, signal)
    },
    /** Resumes a crawl that was interrupted; returns false if it is running or complete. */
    async resume(signal: AbortSignal): Promise<boolean> {
      try {
        await ask('resumeCrawl', { id }, { signal, strict: true })
        return true
      } catch (error) {
        if (error instanceof BaxError && error.code === 'conflict') return false
        throw error
      }
    },
  }
}

/** Starts a crawl that continues without this connection. */
export async function startCrawl({ io }: Context, { ask }: LocatedEngine, input: Unchecked): Promise<CrawlAccepted> {
  return ask('crawl', { ...input, async: true }, { strict: true, signal: io.signal })
}

const pagesAtOnce = 100

/** Prints the answer of `POST /v1/crawl` with all pages, which are requested in chunks. */
export async function printAnswer(reader: Reader, calls: CrawlCalls): Promise<void> {
  const head: Partial<CrawlState> = await calls.state(0, 0)
  const { completed = 0 } = head
  const accounts: Partial<CrawlAccounts> = await calls.accounts()
  for (const name of ['kind', 'created_at', 'expires_at', 'next', 'data'] as const) delete head[name]
  delete accounts.success
  await reader.print(`${JSON.stringify(head).slice(0, -1)},"data":[`)
  for (let skip = 0; skip < completed;) {
    const { data } = await calls.state(skip, Math.min(pagesAtOnce, completed - skip))
    if (data.length === 0) break
    for (const [at, page] of data.entries()) await reader.print(`${skip + at > 0 ? ',' : ''}${JSON.stringify(page)}`)
    skip += data.length
  }
  await reader.print(`],${JSON.stringify(accounts).slice(1)}\n`)
}

/** A frame of the stream. */
export type CrawlEvent = FrameOf<'crawlEvents'>

interface CrawlStream {
  readonly engine: Pick<Calls, 'open'>
  readonly id: string
  readonly types: readonly CrawlEventType[]
  /** How long to retry a broken connection, in milliseconds; 0 for an engine on this machine. */
  readonly retryMs: number
}

/** Yields the events after `since`, each once, across reconnections. @throws BaxError `engine_unreachable` */
export async function* followCrawl(
  { engine, id, types, retryMs }: CrawlStream,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent> {
  let seen = since
  let opened = false
  // A resumed crawl has the `crawl.finished` of its first part in the middle, so the end of the stream counts, too.
  let finished = false
  let brokenAt: number | undefined
  for (;;) {
    let broken: unknown
    try {
      const frames = await engine.open('crawlEvents', { id, since: seen, types: [...types] }, { signal, strict: true })
      opened = true
      for await (const event of frames ?? []) {
        seen = event.seq
        brokenAt = undefined
        // Progress may follow the end.
        if (event.type !== 'crawl.progress') finished = event.type === 'crawl.finished'
        yield event
      }
    } catch (error) {
      if (!(error instanceof BaxError && error.code === 'engine_unreachable' && opened) || signal.aborted) throw error
      broken = error
    }
    if (finished && !broken) return
    signal.throwIfAborted()
    brokenAt ??= performance.now()
    if (performance.now() - brokenAt >= retryMs) throw broken ?? cutOff()
    await after(limits.stream.retryMs / 4, undefined, { signal })
  }
}

/** Returns why a crawl has not visited all of its pages. */
export function failureOf({ status, error, code }: CrawlEventData['crawl.finished']): BaxError {
  if (status === 'cancelled') return new BaxError('skipped', 'the crawl was cancelled')
  return BaxError.fromBody({ error: error ?? 'the crawl failed', code }, 'navigation_failed')
}

const cutOff = () => new BaxError('engine_unreachable', 'the crawl has not ended, but this engine does not run it')
