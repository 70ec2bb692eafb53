/** Crawls of whole sites: the running and the stored crawls of an engine. */
import type { Call, Frame, StreamCall } from '../../core/operation/call.ts'
import { type Caller, canSee } from '../../core/access/caller.ts'
import { Quota } from '../../core/access/quota.ts'
import type { EngineConfig } from '../../core/config/config.ts'
import type { Crawls } from '../../core/engine.ts'
import { asBaxError, BaxError, type ErrorCode, errorTable } from '../../core/errors/errors.ts'
import { newId } from '../../core/ids.ts'
import type { KeyRing } from '../../core/access/keys.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlAccepted, CrawlAccounts, CrawlAnswer, CrawlInput, CrawlState, CrawlStatus, MapAnswer, MapInput } from '../../core/shapes/crawl.ts' // prettier-ignore
import type { PageScraper } from '../scrape/scraper.ts'
import { accountsOf, outcomeOf, pagesOf, type PageRange } from './responses.ts'
import { crawlFrames } from './feed.ts'
import { CrawlList } from './store/list.ts'
import { type CrawlContext, type LiveCrawl, resumeLive, runningElsewhere, startLive } from './live.ts'
import { crawlForMap, mapOf } from './queue/map.ts'
import { planCrawl } from './plan.ts'
import type { CrawlRecord } from './store/record.ts'
import { CrawlStore, notFound, type StoredCrawl } from './store/crawl-store.ts'

export interface CrawlsFacts {
  readonly config: EngineConfig
  /** Crawls of a key are cancelled when it is revoked. */
  readonly keys: KeyRing
  readonly scraper: () => Promise<PageScraper>
  readonly mostPages: number
}

export class EngineCrawls implements Crawls {
  readonly #facts: CrawlsFacts
  readonly #quota: Quota
  readonly mostPages: number
  readonly #store: CrawlStore
  readonly #live = new Map<string, LiveCrawl>()
  readonly #list: CrawlList
  /** Crawls that only map a site. */
  readonly #maps = new Set<string>()
  readonly #sweeper: NodeJS.Timeout
  #closed = false

  constructor(facts: CrawlsFacts) {
    this.#facts = facts
    this.#quota = new Quota('crawls', facts.config.allowances)
    this.mostPages = facts.mostPages
    this.#store = new CrawlStore(facts.config.stateDir)
    this.#list = new CrawlList(this.#store, this.#live)
    this.#sweeper = setInterval(() => this.#sweep(), limits.crawl.sweepMs).unref()
    this.#sweep()
  }

  get count(): number {
    return this.#live.size
  }

  async crawl(input: CrawlInput, call: Call): Promise<CrawlAnswer | CrawlAccepted> {
    if (input.limit > this.mostPages) {
      const message = `must be at most ${this.mostPages}`
      throw new BaxError('invalid_request', `limit ${message}`, { details: [{ path: 'limit', message }] })
    }
    const live = await this.#start(input, call)
    if (input.async || call.preferAsync) return { success: true, id: live.id, url: crawlUrl(live.id, call) }
    await this.#waitUntilDone(live, call.signal)
    throwServerErrors(live.record)
    const { record } = live
    return {
      ...outcomeOf(record, { url: crawlUrl(record.id, call), isRunning: false }),
      duration_ms: record.activeMs(),
      ...(await this.#pages(record, { skip: 0, limit: Infinity }, call, live.bytes())).part,
      ...(await accountsOf(record, this.#store.files(record.id), live.bytes())),
    }
  }

  async get({ id, ...part }: PageRange & { id: string }, call: Call): Promise<CrawlState> {
    const { record, isRunning, bytes } = await this.#find(id, call)
    const pages = await this.#pages(record, part, call, bytes)
    return {
      ...addWarning(outcomeOf(record, { url: crawlUrl(id, call), isRunning }), pages.warning),
      created_at: record.createdAt,
      expires_at: new Date(Date.parse(record.lastAt) + limits.crawl.keptMs).toISOString(),
      duration_ms: record.activeMs(isRunning ? Date.now() : undefined),
      ...pages.part,
    }
  }

  async list({ limit }: { limit: number }, call: Call) {
    const { crawls: all, warning } = await this.#list.all(call.caller, this.#maps)
    const crawls = all.slice(0, limit).map(({ record, isRunning }) => ({
      ...outcomeOf(record, { url: crawlUrl(record.id, call), isRunning }),
      start_url: record.input.url,
      errors: record.counts().errors,
      created_at: record.createdAt,
      duration_ms: record.activeMs(isRunning ? Date.now() : undefined),
      // A server does not reveal its paths.
      ...(this.#facts.config.home !== 'server' && this.#store.outputOf(record.id)),
    }))
    return { crawls, total: all.length, ...(warning !== undefined && { warning }) }
  }

  async accounts(id: string, call: Call): Promise<CrawlAccounts> {
    const { record, bytes } = await this.#find(id, call)
    return { success: true, ...(await accountsOf(record, this.#store.files(id), bytes)) }
  }

  async cancel(id: string, call: Call): Promise<CrawlStatus> {
    const live = this.#liveOf(id, call.caller)
    if (live) {
      live.end('cancelled')
      await live.done
      return live.record.status(false)
    }
    const { record, isRunning } = await this.#find(id, call)
    if (isRunning) throw runningElsewhere()
    if (record.finished?.status === 'cancelled') return 'cancelled'
    const status = record.status(false)
    throw new BaxError('conflict', `the crawl has ${status === 'completed' ? 'been completed' : 'failed'} already`)
  }

  async resume(id: string, call: Call): Promise<CrawlAccepted> {
    if (this.#liveOf(id, call.caller)) throw new BaxError('conflict', 'the crawl is running')
    const { record, isRunning } = await this.#find(id, call)
    if (isRunning) throw runningElsewhere()
    if (record.finished?.status === 'completed' && (await this.#store.damagedPages(record)).length === 0)
      throw new BaxError('conflict', 'the crawl has been completed')
    if (record.startFailure) throw new BaxError('conflict', 'the crawl failed at its start page: start a new one')
    this.#assertOpen()
    const context = await this.#context()
    await this.#startCounted(call.caller, () => resumeLive(id, context))
    return { success: true, id, url: crawlUrl(id, call) }
  }

  async follow(
    { id, since, types }: { id: string; since: number; types?: readonly string[] | undefined },
    call: StreamCall,
  ): Promise<AsyncIterable<Frame> | null> {
    const live = this.#liveOf(id, call.caller)
    const { bytes, seq } = live ? { bytes: 0, seq: Infinity } : await this.#read(id, call.caller)
    if (since >= seq) return null
    return crawlFrames(this.#store.files(id), live, { since, types, bytes, signal: call.signal })
  }

  async map(input: MapInput, call: Call): Promise<MapAnswer> {
    const live = await this.#start(crawlForMap(input), call)
    this.#maps.add(live.id)
    try {
      await this.#waitUntilDone(live, call.signal)
      return await mapOf(input, live.record, { files: this.#store.files(live.id), bytes: live.bytes() })
    } finally {
      live.end('interrupted')
      // Failures of the crawl are reported by `#waitUntilDone`.
      await live.done.catch(() => {})
      await this.#store.remove(live.id)
      this.#maps.delete(live.id)
    }
  }

  /** Interrupts running crawls, which can be resumed later. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#sweeper)
    for (const live of this.#live.values()) live.end('interrupted')
    await Promise.allSettled([...this.#live.values()].map(({ done }) => done))
  }

  async #start(input: CrawlInput, { caller }: Call): Promise<LiveCrawl> {
    this.#assertOpen()
    const plan = planCrawl(input)
    const context = await this.#context()
    await context.scraper.check(plan.page(plan.start.href))
    return this.#startCounted(caller, () => startLive({ id: newId('crl'), owner: caller.keyId }, plan, context))
  }

  async #context(): Promise<CrawlContext> {
    return { store: this.#store, scraper: await this.#facts.scraper(), log: this.#facts.config.log }
  }

  /** Starts a crawl that counts towards the caller's quota while it runs. */
  async #startCounted(caller: Caller, start: () => Promise<LiveCrawl>): Promise<LiveCrawl> {
    const release = this.#quota.take(caller)
    try {
      const live = this.#watch(await start())
      live.done.then(release, release)
      return live
    } catch (error) {
      release()
      throw error
    }
  }

  #watch(live: LiveCrawl): LiveCrawl {
    this.#live.set(live.id, live)
    if (this.#closed) live.end('interrupted')
    const ended = new AbortController()
    this.#facts.keys.whenLost(live.record.owner, () => live.end('cancelled'), ended.signal)
    live.done
      .catch((error: unknown) => {
        const { message, cause } = asBaxError(error)
        this.#facts.config.log('error', 'a crawl failed', { crawl: live.id, error: message, cause: String(cause) })
      })
      .finally(() => {
        ended.abort()
        this.#live.delete(live.id)
      })
    return live
  }

  /** Waits for the end of a crawl, and cancels it if the caller disconnects. */
  async #waitUntilDone(live: LiveCrawl, signal: AbortSignal): Promise<void> {
    const cancel = () => live.end('cancelled')
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      await live.done
    } finally {
      signal.removeEventListener('abort', cancel)
    }
    if (!live.record.finished) throw new BaxError('shutting_down', 'the engine is shutting down')
  }

  async #pages(record: CrawlRecord, part: PageRange, call: Call, bytes: number) {
    const { data, next, warning } = await pagesOf(record, this.#store.files(record.id), part, bytes)
    const size = Number.isFinite(part.limit) ? `&limit=${part.limit}` : ''
    const more = next !== undefined && { next: `${crawlUrl(record.id, call)}?skip=${next}${size}` }
    return { part: { data, ...more }, warning }
  }

  /** @throws BaxError `crawl_not_found` */
  async #find(id: string, { caller }: Call): Promise<{ record: CrawlRecord; bytes: number; isRunning: boolean }> {
    const live = this.#liveOf(id, caller)
    if (live) return { record: live.record, bytes: live.bytes(), isRunning: true }
    const { record, bytes } = await this.#read(id, caller)
    return { record, bytes, isRunning: !record.finished && (await this.#store.isHeld(id)) }
  }

  #liveOf(id: string, caller: Caller): LiveCrawl | undefined {
    const live = this.#live.get(id)
    return live && canSee(caller, live.record.owner) ? live : undefined
  }

  /** @throws BaxError `crawl_not_found`, also for crawls of other callers. */
  async #read(id: string, caller: Caller): Promise<StoredCrawl> {
    const stored = await this.#store.read(id)
    if (canSee(caller, stored.record.owner)) return stored
    throw notFound(id)
  }

  #assertOpen(): void {
    if (this.#closed) throw new BaxError('shutting_down', 'the engine is shutting down')
  }

  #sweep(): void {
    this.#store
      .sweep()
      .catch((error: Error) => this.#facts.config.log('warn', 'old crawls were not removed', { error: error.message }))
  }
}

const crawlUrl = (id: string, { baseUrl }: Call): string => `${baseUrl}/v1/crawl/${id}`

/** Throws server-side errors, such as a missing browser. Other failures of the start page are part of the response. */
function throwServerErrors({ startFailure }: CrawlRecord): void {
  const code = startFailure?.code as ErrorCode | undefined
  if (code !== undefined && errorTable[code]?.status >= 500) throw new BaxError(code, startFailure!.error)
}

const addWarning = <Outcome extends { warning?: string }>(outcome: Outcome, more: string | undefined): Outcome =>
  more === undefined ? outcome : { ...outcome, warning: [outcome.warning, more].filter(Boolean).join('; ') }
