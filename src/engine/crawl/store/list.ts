/** The list of crawls: running ones from memory, stored ones cached until their journal changes. */
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { UnusableFile } from '../../../core/state/state-file.ts'
import type { LiveCrawl } from '../local/live.ts'
import type { CrawlRecord } from './record.ts'
import { type CrawlStore, notFound } from './crawl-store.ts'

interface CachedRecord {
  readonly stamp: string
  readonly record: CrawlRecord
}

export class CrawlList {
  readonly #store: CrawlStore
  readonly #live: ReadonlyMap<string, LiveCrawl>
  #cache = new Map<string, CachedRecord>()
  /** IDs of crawls that cannot be read. */
  readonly #damaged = new Set<string>()

  constructor(store: CrawlStore, live: ReadonlyMap<string, LiveCrawl>) {
    this.#store = store
    this.#live = live
  }

  /** Returns the crawls visible to a caller, newest first, without internal ones (`hidden`). */
  async all(caller: Caller, hidden: ReadonlySet<string>) {
    this.#damaged.clear()
    // Crawls may start and end meanwhile: each is listed once.
    const [live, hiddenBefore] = [new Map(this.#live), new Set(hidden)]
    const running = [...live.values()].map(({ record, isWaiting }) => ({
      record,
      isRunning: true,
      isWaiting: isWaiting(),
    }))
    const ids = (await this.#store.ids()).filter((id) => !live.has(id))
    const cache = new Map<string, CachedRecord>()
    const stored = await Promise.all(ids.map((id) => this.#stateOf(id, cache)))
    this.#cache = cache
    const crawls = [...running, ...stored.filter((state) => state !== undefined)]
      .filter(({ record: { id, owner } }) => canSee(caller, owner) && !hiddenBefore.has(id) && !hidden.has(id))
      .toSorted((a, b) => b.record.createdAt.localeCompare(a.record.createdAt))
    if (!caller.admin || this.#damaged.size === 0) return { crawls }
    return { crawls, warning: `left out because damaged: ${[...this.#damaged].join(', ')}; see \`bax doctor\`` }
  }

  /** Reads a crawl, and adds it to the cache; undefined if it was removed meanwhile or has not started. */
  async #stateOf(id: string, cache: Map<string, CachedRecord>) {
    try {
      return await this.#store.stateOf(id, async () => {
        const stamp = await this.#store.stampOf(id)
        if (stamp === undefined) throw notFound(id)
        const cached = this.#cache.get(id)
        const read = cached?.stamp === stamp ? cached : { stamp, record: await this.#store.read(id) }
        cache.set(id, read)
        return read.record
      })
    } catch (error) {
      if (error instanceof UnusableFile) this.#damaged.add(id)
      if (error instanceof BaxError && error.code === 'crawl_not_found') return undefined
      throw error
    }
  }
}
