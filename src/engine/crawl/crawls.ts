/** All crawls of an engine: those at work, and those that are kept. */
import { type Caller, sees } from '../../core/access/caller.ts'
import { Quota } from '../../core/access/quota.ts'
import type { EngineConfig } from '../../core/config/config.ts'
import type { Crawls } from '../../core/engine.ts'
import { asBaxError, BaxError, type ErrorCode, errorTable } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Call } from '../../core/operation/operation.ts'
import type {
  CrawlAccepted,
  CrawlAccounts,
  CrawlAnswer,
  CrawlInput,
  CrawlListed,
  CrawlState,
  CrawlStatus,
  MapAnswer,
  MapInput,
} from '../../core/shapes/crawl.ts'
import type { Frame, StreamCall } from '../../core/operation/stream.ts'
import type { PageSteps } from '../scrape/steps.ts'
import { accountsOf, outcomeOf, pagesOf, type Part } from './answer.ts'
import { feedOf } from './feed.ts'
import { CrawlList } from './store/list.ts'
import { type LiveCrawl, resumeLive, startLive } from './live.ts'
import { crawlForMap, mapOf } from './queue/map.ts'
import { planCrawl } from './plan.ts'
import type { CrawlRecord } from './store/record.ts'
import { CrawlShelf, notFound, type ShelvedCrawl } from './store/crawl-store.ts'

export interface CrawlsFacts {
  readonly config: EngineConfig
  /** What is asked for under a key ends when that is good no longer. */
  readonly keys: KeyRing
  readonly steps: () => Promise<PageSteps>
  readonly mostPages: number
}

export class EngineCrawls implements Crawls {
  readonly #keys: KeyRing
  readonly #config: EngineConfig
  readonly #quota: Quota
  readonly mostPages: number
  readonly #steps: () => Promise<PageSteps>
  readonly #shelf: CrawlShelf
  readonly #live = new Map<string, LiveCrawl>()
  readonly #list: CrawlList
  /** Crawls that only find out the addresses of a site. */
  readonly #maps = new Set<string>()
  readonly #sweeper: NodeJS.Timeout
  #closed = false

  constructor({ config, keys, steps, mostPages }: CrawlsFacts) {
    this.#config = config
    this.#quota = new Quota('crawls', config.allowances)
    this.#keys = keys
    this.mostPages = mostPages
    this.#steps = steps
    this.#shelf = new CrawlShelf(config.stateDir)
    this.#list = new CrawlList(this.#shelf, this.#live)
    this.#sweeper = setInterval(() => this.#sweep(), limits.crawl.sweepMs).unref()
    this.#sweep()
  }

  /** Crawls at work. */
  get count(): number {
    return this.#live.size
  }

  async crawl(input: CrawlInput, call: Call): Promise<CrawlAnswer | CrawlAccepted> {
    if (input.limit > this.mostPages) throw tooMany(this.mostPages)
    const live = await this.#start(input, call)
    if (input.async || call.preferAsync) return { success: true, id: live.id, url: addressOf(live.id, call) }
    await this.#untilDone(live, call.signal)
    refuseOurs(live.record)
    return this.#whole(live, call)
  }

  async get({ id, ...part }: Part & { id: string }, call: Call): Promise<CrawlState> {
    const { record, isRunning, bytes } = await this.#find(id, call)
    const pages = await this.#pages(record, part, call, bytes)
    return {
      ...withWarning(outcomeOf(record, { url: addressOf(id, call), isRunning }), pages.warning),
      created_at: record.createdAt,
      expires_at: new Date(Date.parse(record.lastAt) + limits.crawl.keptMs).toISOString(),
      duration_ms: record.activeMs(isRunning ? Date.now() : undefined),
      ...pages.part,
    }
  }

  async list(
    { limit }: { limit: number },
    call: Call,
  ): Promise<{ crawls: CrawlListed[]; total: number; warning?: string }> {
    const { crawls: all, warning } = await this.#list.all(call.caller, this.#maps)
    const crawls = all.slice(0, limit).map(({ record, isRunning }) => ({
      ...outcomeOf(record, { url: addressOf(record.id, call), isRunning }),
      start_url: record.input.url,
      errors: record.counts().errors,
      created_at: record.createdAt,
      duration_ms: record.activeMs(isRunning ? Date.now() : undefined),
      // A server tells nobody its paths.
      ...(this.#config.home !== 'server' && this.#shelf.outputOf(record.id)),
    }))
    return { crawls, total: all.length, ...(warning !== undefined && { warning }) }
  }

  async accounts(id: string, call: Call): Promise<CrawlAccounts> {
    const { record, bytes } = await this.#find(id, call)
    return { success: true, ...(await accountsOf(record, this.#shelf.files(id), bytes)) }
  }

  async cancel(id: string, call: Call): Promise<CrawlStatus> {
    const live = this.#liveOf(id, call.caller)
    if (live) {
      live.end('cancelled')
      await live.done
      return live.record.status(false)
    }
    const { record, isRunning } = await this.#find(id, call)
    if (isRunning) throw elsewhere()
    if (record.finished?.status === 'cancelled') return 'cancelled'
    const status = record.status(false)
    throw new BaxError('conflict', `the crawl has ${status === 'completed' ? 'been completed' : 'failed'} already`)
  }

  async resume(id: string, call: Call): Promise<CrawlAccepted> {
    if (this.#liveOf(id, call.caller)) throw new BaxError('conflict', 'the crawl is running')
    const { record, isRunning } = await this.#find(id, call)
    if (isRunning) throw elsewhere()
    if (record.finished?.status === 'completed' && (await this.#shelf.damagedPages(record)).length === 0)
      throw new BaxError('conflict', 'the crawl has been completed')
    if (record.startFailure) throw new BaxError('conflict', 'the crawl failed at its start page: begin a new one')
    this.#refuseWhenClosed()
    const steps = await this.#steps()
    await this.#counted(call.caller, () => resumeLive(id, { shelf: this.#shelf, steps, log: this.#config.log }))
    return { success: true, id, url: addressOf(id, call) }
  }

  async follow(
    { id, since, types }: { id: string; since: number; types?: readonly string[] | undefined },
    call: StreamCall,
  ): Promise<AsyncIterable<Frame> | null> {
    const live = this.#liveOf(id, call.caller)
    const { bytes, seq } = live ? { bytes: 0, seq: Infinity } : await this.#read(id, call.caller)
    if (since >= seq) return null
    return feedOf(this.#shelf.files(id), live, { since, types, bytes, signal: call.signal })
  }

  async map(input: MapInput, call: Call): Promise<MapAnswer> {
    const live = await this.#start(crawlForMap(input), call)
    this.#maps.add(live.id)
    try {
      await this.#untilDone(live, call.signal)
      return await mapOf(input, live.record, { files: this.#shelf.files(live.id), bytes: live.bytes() })
    } finally {
      live.end('interrupted')
      // Failures of the crawl are reported by `#untilDone`.
      await live.done.catch(() => {})
      await this.#shelf.remove(live.id)
      this.#maps.delete(live.id)
    }
  }

  /** Leaves what is at work as it is, to be gone on with. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    for (const live of this.#live.values()) live.end('interrupted')
    await Promise.allSettled([...this.#live.values()].map(({ done }) => done))
  }

  async #start(input: CrawlInput, { caller }: Call): Promise<LiveCrawl> {
    this.#refuseWhenClosed()
    const plan = planCrawl(input)
    const steps = await this.#steps()
    await steps.check(plan.page(plan.start.href))
    const identity = { id: newId('crl'), owner: caller.keyId }
    return this.#counted(caller, () => startLive(identity, plan, { shelf: this.#shelf, steps, log: this.#config.log }))
  }

  /** One of those that the caller may have at a time. */
  async #counted(caller: Caller, start: () => Promise<LiveCrawl>): Promise<LiveCrawl> {
    const free = this.#quota.take(caller)
    try {
      const live = this.#watch(await start())
      live.done.then(free, free)
      return live
    } catch (error) {
      free()
      throw error
    }
  }

  #watch(live: LiveCrawl): LiveCrawl {
    this.#live.set(live.id, live)
    if (this.#closed) live.end('interrupted')
    const over = new AbortController()
    this.#keys.whenLost(live.record.owner, () => live.end('cancelled'), over.signal)
    live.done
      .catch((error: unknown) => {
        const { message, cause } = asBaxError(error)
        this.#config.log('error', 'a crawl failed', { crawl: live.id, error: message, cause: String(cause) })
      })
      .finally(() => {
        over.abort()
        this.#live.delete(live.id)
      })
    return live
  }

  /** A caller who goes away ends what it waited for. */
  async #untilDone(live: LiveCrawl, signal: AbortSignal): Promise<void> {
    const leave = () => live.end('cancelled')
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    try {
      await live.done
    } finally {
      signal.removeEventListener('abort', leave)
    }
    if (!live.record.finished) throw new BaxError('shutting_down', 'the engine is shutting down')
  }

  async #whole({ record, bytes }: LiveCrawl, call: Call): Promise<CrawlAnswer> {
    return {
      ...outcomeOf(record, { url: addressOf(record.id, call), isRunning: false }),
      duration_ms: record.activeMs(),
      ...(await this.#pages(record, { skip: 0, limit: Infinity }, call, bytes())).part,
      ...(await accountsOf(record, this.#shelf.files(record.id), bytes())),
    }
  }

  async #pages(record: CrawlRecord, part: Part, call: Call, bytes: number) {
    const { data, next, warning } = await pagesOf(record, this.#shelf.files(record.id), part, bytes)
    const size = Number.isFinite(part.limit) ? `&limit=${part.limit}` : ''
    const more = next !== undefined && { next: `${addressOf(record.id, call)}?skip=${next}${size}` }
    return { part: { data, ...more }, warning }
  }

  /** @throws BaxError `crawl_not_found` */
  async #find(id: string, { caller }: Call): Promise<{ record: CrawlRecord; bytes: number; isRunning: boolean }> {
    const live = this.#liveOf(id, caller)
    if (live) return { record: live.record, bytes: live.bytes(), isRunning: true }
    const { record, bytes } = await this.#read(id, caller)
    return { record, bytes, isRunning: !record.finished && (await this.#shelf.isHeld(id)) }
  }

  #liveOf(id: string, caller: Caller): LiveCrawl | undefined {
    const live = this.#live.get(id)
    return live && sees(caller, live.record.owner) ? live : undefined
  }

  /** @throws BaxError `crawl_not_found`, also for one that is somebody else's. */
  async #read(id: string, caller: Caller): Promise<ShelvedCrawl> {
    const shelved = await this.#shelf.read(id)
    if (sees(caller, shelved.record.owner)) return shelved
    throw notFound(id)
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new BaxError('shutting_down', 'the engine is shutting down')
  }

  #sweep(): void {
    this.#shelf
      .sweep()
      .catch((error: Error) => this.#config.log('warn', 'old crawls were not removed', { error: error.message }))
  }
}

const addressOf = (id: string, { baseUrl }: Call): string => `${baseUrl}/v1/crawl/${id}`

/** What was wrong with the start page is an answer; that we have no browser to look at it is a failure. */
function refuseOurs({ startFailure }: CrawlRecord): void {
  const code = startFailure?.code as ErrorCode | undefined
  if (code !== undefined && errorTable[code]?.status >= 500) throw new BaxError(code, startFailure!.error)
}

const withWarning = <Outcome extends { warning?: string }>(outcome: Outcome, more: string | undefined): Outcome =>
  more === undefined ? outcome : { ...outcome, warning: [outcome.warning, more].filter(Boolean).join('; ') }

const elsewhere = (): BaxError => new BaxError('conflict', 'the crawl is running in another process')

const tooMany = (most: number): BaxError =>
  new BaxError('invalid_request', `limit must be at most ${most}`, {
    details: [{ path: 'limit', message: `must be at most ${most}` }],
  })
