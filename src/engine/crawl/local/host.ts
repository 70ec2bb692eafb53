/** Keeps and runs crawls in this process: the running and the stored crawls of an engine. */
import { sessionNotFound } from '../../../core/access/relayed.ts'
import type { Call } from '../../../core/operation/call.ts'
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { Quota } from '../../../core/access/quota.ts'
import type { EngineConfig } from '../../../core/config/config.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { KeyRing } from '../../../core/access/keys.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlInput, CrawlStatus, MapAnswer, MapInput } from '../../../core/shapes/crawl.ts'
import type { OpenIdentity } from '../../scrape/identity/open-identity.ts'
import type { PageScraper } from '../../scrape/scraper.ts'
import type { CrawlHost, CrawlProgress, ListedCrawl, OpenCrawl, StartedCrawl } from '../crawls.ts'
import { CrawlList } from '../store/list.ts'
import { type CrawlContext, type LiveCrawl, resumeLive, runningElsewhere, startLive } from './live.ts'
import { crawlForMap, mapOf } from '../queue/map.ts'
import { checkCrawl, planCrawl } from '../plan.ts'
import { CrawlStore, notFound } from '../store/crawl-store.ts'
import type { CrawlRecord } from '../store/record.ts'
import { assertResumable, type CrawlView } from '../views.ts'

export interface LocalCrawlFacts {
  readonly config: EngineConfig
  /** Crawls of a key are cancelled when it is revoked. */
  readonly keys: KeyRing
  readonly scraper: () => Promise<PageScraper>
  readonly mostPages: number
}

/** A crawl of the engine; `live` if it runs in this process. */
interface LocalCrawl extends CrawlView {
  readonly live?: LiveCrawl
}

export class LocalCrawlHost implements CrawlHost<LocalCrawl> {
  readonly #facts: LocalCrawlFacts
  readonly #quota: Quota
  readonly mostPages: number
  readonly #store: CrawlStore
  readonly #live = new Map<string, LiveCrawl>()
  readonly #list: CrawlList
  /** Crawls that only map a site. */
  readonly #maps = new Set<string>()
  readonly #sweeper: NodeJS.Timeout
  #closed = false

  constructor(facts: LocalCrawlFacts) {
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

  ask<T>(work: () => Promise<T>): Promise<T> {
    return work()
  }

  async start(input: CrawlInput, call: Call): Promise<StartedCrawl> {
    const live = await this.#start(input, call)
    return {
      id: live.id,
      ended: async (signal) => {
        await this.#waitUntilDone(live, signal)
        return this.#viewOf(live)
      },
    }
  }

  async find(id: string, caller: Caller): Promise<LocalCrawl> {
    const live = this.#liveOf(id, caller)
    if (live) return this.#viewOf(live)
    const state = await this.#store.stateOf(id, () => this.#read(id, caller))
    return { ...state, logs: this.#store.logs(id) }
  }

  all(caller: Caller): ReturnType<CrawlList['all']> {
    return this.#list.all(caller, this.#maps)
  }

  async progressOf(crawls: readonly ListedCrawl[], caller: Caller): Promise<CrawlProgress[]> {
    return crawls.flatMap(({ record }) => this.#liveOf(record.id, caller)?.progress() ?? [])
  }

  outputOf(id: string): object {
    // A server does not reveal its paths.
    return this.#facts.config.home === 'server' ? {} : this.#store.outputOf(id)
  }

  async stop({ live }: LocalCrawl): Promise<CrawlStatus> {
    if (!live) throw runningElsewhere()
    live.end('cancelled')
    await live.done
    return live.record.status(false)
  }

  async resume({ record, isRunning, live }: LocalCrawl, caller: Caller): Promise<void> {
    if (live) throw new BaxError('conflict', 'the crawl is running')
    if (isRunning) throw runningElsewhere()
    const isCompleted = record.finished?.status === 'completed'
    assertResumable(record, isCompleted && (await this.#store.damagedPages(record)).length > 0)
    this.#assertOpen()
    const context = await this.#context()
    await this.#startCounted(caller, () => resumeLive(record.id, context))
  }

  async open(id: string, caller: Caller): Promise<OpenCrawl> {
    const live = this.#liveOf(id, caller)
    const { bytes, seq } = live ? live.record : await this.#read(id, caller)
    return { logs: this.#store.logs(id), live, bytes, seq }
  }

  /** `open` opens another identity than that of the fields, such as that of a session. */
  async map(input: MapInput, call: Pick<Call, 'caller' | 'signal'>, open?: OpenIdentity): Promise<MapAnswer> {
    if (input.session_id !== undefined && !open) throw sessionNotFound(input.session_id)
    const live = await this.#start(crawlForMap(input), call, open)
    this.#maps.add(live.id)
    try {
      await this.#waitUntilDone(live, call.signal)
      return await mapOf(input, live.record, this.#store.logs(live.id))
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

  async #start(
    given: CrawlInput,
    { caller, signal }: Pick<Call, 'caller' | 'signal'>,
    open?: OpenIdentity,
  ): Promise<LiveCrawl> {
    this.#assertOpen()
    const context = await this.#context()
    await checkCrawl(planCrawl(given, caller.keyId), context.scraper, signal)
    const { input, opened } = await context.scraper.identities.seal(given, caller, open)
    return this.#startCounted(caller, () =>
      startLive({ id: newId('crl'), owner: caller.keyId }, input, { ...context, opened }),
    )
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

  #viewOf(live: LiveCrawl): LocalCrawl {
    const { id, record, isWaiting } = live
    return { record, isRunning: true, isWaiting: isWaiting(), logs: this.#store.logs(id), live }
  }

  #liveOf(id: string, caller: Caller): LiveCrawl | undefined {
    const live = this.#live.get(id)
    return live && canSee(caller, live.record.owner) ? live : undefined
  }

  /** @throws BaxError `crawl_not_found`, also for crawls of other callers. */
  async #read(id: string, caller: Caller): Promise<CrawlRecord> {
    const record = await this.#store.view(id)
    if (canSee(caller, record.owner)) return record
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
