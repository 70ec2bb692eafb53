/** The list of crawls: running ones from memory, stored ones cached until their journal changes. */
import { type Caller, canSee } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { UnusableFile } from '../../../core/state/state-file.ts'
import type { LiveCrawl } from '../live.ts'
import type { CrawlRecord } from './record.ts'
import type { CrawlStore } from './crawl-store.ts'

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
    const ids = (await this.#store.ids()).filter((id) => !this.#live.has(id))
    const entries = await Promise.all(ids.map(async (id) => [id, await this.#read(id)] as const))
    this.#cache = new Map(entries.filter((entry): entry is [string, CachedRecord] => entry[1] !== undefined))
    const running = [...this.#live.values()].filter(({ id }) => !hidden.has(id)).map(({ record }) => record)
    const ended = await Promise.all(
      [...this.#cache.values()].map(async ({ record }) => ({
        record,
        isRunning: !record.finished && (await this.#store.isHeld(record.id)),
      })),
    )
    const crawls = [...running.map((record) => ({ record, isRunning: true })), ...ended]
      .filter(({ record }) => canSee(caller, record.owner))
      .toSorted((a, b) => b.record.createdAt.localeCompare(a.record.createdAt))
    if (!caller.admin || this.#damaged.size === 0) return { crawls }
    return { crawls, warning: `left out because damaged: ${[...this.#damaged].join(', ')}; see \`bax doctor\`` }
  }

  /** Reads a crawl; undefined if it was removed meanwhile or has not started. */
  async #read(id: string): Promise<CachedRecord | undefined> {
    try {
      const stamp = await this.#store.stampOf(id)
      if (stamp === undefined) return undefined
      const cached = this.#cache.get(id)
      return cached?.stamp === stamp ? cached : { stamp, record: (await this.#store.read(id)).record }
    } catch (error) {
      if (error instanceof UnusableFile) this.#damaged.add(id)
      if (error instanceof BaxError && error.code === 'crawl_not_found') return undefined
      throw error
    }
  }
}
