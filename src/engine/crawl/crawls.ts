/** Crawls of whole sites, wherever they are kept and run. */
import type { Caller } from '../../core/access/caller.ts'
import type { Crawls } from '../../core/engine.ts'
import type { Call, Frame, StreamCall } from '../../core/operation/call.ts'
import type {
  CrawlAccepted,
  CrawlAccounts,
  CrawlAnswer,
  CrawlEventData,
  CrawlInput,
  CrawlState,
  CrawlStatus,
  CrawlUsage,
} from '../../core/shapes/crawl.ts'
import { assertComparable } from './comparable.ts'
import { crawlFrames, type FollowedCrawl } from './feed.ts'
import type { PageRange } from './responses.ts'
import {
  acceptedAnswer,
  accountsAnswer,
  assertLimit,
  cancelledStatus,
  type CrawlView,
  listedAnswer,
  stateAnswer,
  usageAnswer,
  wholeAnswer,
} from './views.ts'

/** Keeps and runs crawls: in this process, or in a fleet. */
export interface CrawlHost<View extends CrawlView> {
  readonly mostPages: number
  /** Limits how long a caller waits for what is kept elsewhere. @throws BaxError `fleet_unavailable` */
  ask<T>(work: () => Promise<T>): Promise<T>
  /** Checks and starts a crawl. */
  start(input: CrawlInput, call: Call): Promise<StartedCrawl>
  /** @throws BaxError `crawl_not_found`, also for crawls of other callers. */
  find(id: string, caller: Caller): Promise<View>
  /** Returns all crawls that a caller can see, newest first. */
  all(caller: Caller): Promise<{ readonly crawls: readonly ListedCrawl[]; readonly warning?: string }>
  /** Returns the progress of those of the crawls that run. */
  progressOf(crawls: readonly ListedCrawl[], caller: Caller): Promise<CrawlProgress[]>
  /** Returns where the files of a crawl are, for callers who may know it. */
  outputOf?(id: string): object
  /** Cancels a running crawl and waits for its end; undefined if it does not run any more. */
  stop(crawl: View): Promise<CrawlStatus | undefined>
  /** @throws BaxError `conflict` for a crawl that cannot be resumed */
  resume(crawl: View, caller: Caller): Promise<void>
  /** Opens a crawl for reading its journal; `live` while it runs and can be followed. */
  open(id: string, caller: Caller): Promise<OpenCrawl>
  close(): Promise<void>
}

export interface StartedCrawl {
  readonly id: string
  /** Waits for the end; the crawl is cancelled if the caller disconnects. */
  ended(signal: AbortSignal): Promise<CrawlView>
}

export type ListedCrawl = Omit<CrawlView, 'logs'>
export type CrawlProgress = Pick<CrawlEventData['crawl.progress'], 'current' | 'queued'>

export interface OpenCrawl extends Pick<CrawlView, 'logs'> {
  /** Size of the journal of a crawl that is not followed, and number of its last line. */
  readonly bytes: number
  readonly seq: number
  readonly live?: FollowedCrawl | undefined
  /** Called when nobody reads it any more. */
  readonly close?: () => void
}

export class CrawlService<View extends CrawlView> implements Omit<Crawls, 'map'> {
  readonly #host: CrawlHost<View>

  constructor(host: CrawlHost<View>) {
    this.#host = host
  }

  get mostPages(): number {
    return this.#host.mostPages
  }

  async crawl(input: CrawlInput, call: Call): Promise<CrawlAnswer | CrawlAccepted> {
    assertLimit(input, this.mostPages)
    if (input.since !== undefined) assertComparable(input, await this.#find(input.since, call))
    const started = await this.#host.start(input, call)
    if (input.async || call.preferAsync) return acceptedAnswer(started.id, call)
    return wholeAnswer(await started.ended(call.signal), call)
  }

  async get({ id, ...part }: PageRange & { id: string }, call: Call): Promise<CrawlState> {
    return this.#host.ask(async () => stateAnswer(await this.#host.find(id, call.caller), part, call))
  }

  async list({ limit }: { limit: number }, call: Call) {
    const { crawls: all, warning } = await this.#all(call)
    const crawls = all
      .slice(0, limit)
      .map((listed) => ({ ...listedAnswer(listed, call), ...this.#host.outputOf?.(listed.record.id) }))
    return { crawls, total: all.length, ...(warning !== undefined && { warning }) }
  }

  async usage(call: Call): Promise<CrawlUsage> {
    const { crawls } = await this.#all(call)
    return usageAnswer(crawls, await this.#host.ask(() => this.#host.progressOf(crawls, call.caller)))
  }

  async accounts(id: string, call: Call): Promise<CrawlAccounts> {
    return this.#host.ask(async () => accountsAnswer(await this.#host.find(id, call.caller)))
  }

  async cancel(id: string, call: Call): Promise<CrawlStatus> {
    const crawl = await this.#find(id, call)
    const { record, isRunning } = crawl
    // After its end, a crawl runs until its webhooks are sent.
    const stopped = isRunning && !record.finished ? await this.#host.stop(crawl) : undefined
    return cancelledStatus(stopped ?? record.status(false))
  }

  async resume(id: string, call: Call): Promise<CrawlAccepted> {
    await this.#host.ask(async () => this.#host.resume(await this.#host.find(id, call.caller), call.caller))
    return acceptedAnswer(id, call)
  }

  async follow(
    { id, since, types }: { id: string; since: number; types?: readonly string[] | undefined },
    { caller, signal }: StreamCall,
  ): Promise<AsyncIterable<Frame> | null> {
    const { logs, live, bytes, seq, close } = await this.#host.open(id, caller)
    if (!live && since >= seq) return null
    const frames = crawlFrames(logs, live, { since, types, bytes, signal })
    return close ? closing(frames, close) : frames
  }

  close(): Promise<void> {
    return this.#host.close()
  }

  #find(id: string, { caller }: Call): Promise<View> {
    return this.#host.ask(() => this.#host.find(id, caller))
  }

  #all({ caller }: Call) {
    return this.#host.ask(() => this.#host.all(caller))
  }
}

async function* closing(frames: AsyncIterable<Frame>, close: () => void): AsyncGenerator<Frame> {
  try {
    yield* frames
  } finally {
    close()
  }
}
