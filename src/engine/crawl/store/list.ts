/** The list of crawls: those at work as they stand, the kept ones as they were read when they last changed. */
import { stat } from 'node:fs/promises'
import { type Caller, sees } from '../../../core/access/caller.ts'
import { UnusableFile } from '../../../core/state/state-file.ts'
import type { LiveCrawl } from '../live.ts'
import type { CrawlRecord } from './record.ts'
import type { CrawlShelf } from './crawl-store.ts'

interface Kept {
  /** Of its journal; another stamp means that it has changed. */
  readonly stamp: string
  readonly record: CrawlRecord
}

export interface ListedCrawl {
  readonly record: CrawlRecord
  readonly isRunning: boolean
}

export class CrawlList {
  readonly #shelf: CrawlShelf
  readonly #live: ReadonlyMap<string, LiveCrawl>
  #kept = new Map<string, Kept>()
  /** Ids of crawls of which nothing can be said any more. */
  readonly #damaged = new Set<string>()

  constructor(shelf: CrawlShelf, live: ReadonlyMap<string, LiveCrawl>) {
    this.#shelf = shelf
    this.#live = live
  }

  /** The crawls that a caller sees, newest first; `hidden` are crawls only for the engine itself. */
  async all(caller: Caller, hidden: ReadonlySet<string>): Promise<{ crawls: ListedCrawl[]; warning?: string }> {
    this.#damaged.clear()
    const ids = (await this.#shelf.ids()).filter((id) => !this.#live.has(id))
    const kept = await Promise.all(ids.map(async (id) => [id, await this.#keptOf(id)] as const))
    // What was removed is forgotten.
    this.#kept = new Map(kept.filter((entry): entry is [string, Kept] => entry[1] !== undefined))
    const running = [...this.#live.values()].filter(({ id }) => !hidden.has(id)).map(({ record }) => record)
    const ended = await Promise.all(
      [...this.#kept.values()].map(async ({ record }) => ({
        record,
        isRunning: !record.finished && (await this.#shelf.isHeld(record.id)),
      })),
    )
    const crawls = [...running.map((record) => ({ record, isRunning: true })), ...ended]
      .filter(({ record }) => sees(caller, record.owner))
      .toSorted((a, b) => b.record.createdAt.localeCompare(a.record.createdAt))
    if (!caller.admin || this.#damaged.size === 0) return { crawls }
    return { crawls, warning: `left out because damaged: ${[...this.#damaged].join(', ')}; see \`bax doctor\`` }
  }

  /** Undefined when it was removed meanwhile, or has not begun. */
  async #keptOf(id: string): Promise<Kept | undefined> {
    try {
      const { mtimeMs, size } = await stat(this.#shelf.files(id).journal)
      const stamp = `${mtimeMs} ${size}`
      const known = this.#kept.get(id)
      return known?.stamp === stamp ? known : { stamp, record: (await this.#shelf.read(id)).record }
    } catch (error) {
      if (error instanceof UnusableFile) this.#damaged.add(id)
      const { code } = error as { code?: string }
      if (code === 'ENOENT' || code === 'crawl_not_found') return undefined
      throw error
    }
  }
}
