/** Builds API responses about a crawl from its record and its files. */
import { limits } from '../../core/limits/limits.ts'
import type { CrawlError, CrawlSkipped, SkipReason } from '../../core/shapes/crawl.ts'
import type { ChangeStatus, SiteChanges } from '../../core/shapes/jobs/changes.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import { Frontier } from './queue/frontier.ts'
import { type JournalLine, pagesAt, readJournal } from './store/journal.ts'
import { DamagedPage, PageFile, placeholderOf } from './store/page-file.ts'
import type { CrawlRecord } from './store/record.ts'
import type { CrawlLogs } from './store/log.ts'

interface OutcomeState {
  readonly url: string
  readonly isRunning: boolean
  /** Whether the crawl is to be resumed; its record is still that of the ended run. */
  readonly isWaiting?: boolean | undefined
}

/** Returns the fields that all responses about a crawl share. */
export function outcomeOf(record: CrawlRecord, state: OutcomeState) {
  const { success, startFailure } = record
  const finished = state.isWaiting ? undefined : record.finished
  const { total, completed, discovered } = record.counts()
  const reason = record.isDamaged
    ? `the journal of the crawl is damaged after ${completed} pages`
    : 'the engine exited during the crawl'
  const interruption = !finished && !state.isRunning && { error: `${reason}; it can be resumed`, code: 'worker_lost' }
  const failure = finished?.error ? { error: finished.error, code: finished.code! } : interruption || startFailure
  const warning = [...record.warnings].sort().join('; ')
  return {
    success,
    id: record.id,
    url: state.url,
    status: state.isWaiting ? 'scraping' : record.status(state.isRunning),
    total,
    completed,
    discovered,
    ...(warning && { warning }),
    ...failure,
  }
}

export interface PageRange {
  readonly skip: number
  readonly limit: number
}

/**
 * Returns at most `limit` pages of `data` from `skip` on, fewer when they are very long; `next` is the first one left
 * out. Pages that can no longer be read are replaced with placeholders, which `warning` counts.
 */
export async function pagesOf(record: CrawlRecord, logs: CrawlLogs, { skip, limit }: PageRange) {
  const { bytes, completed } = record
  const order = record.order().slice(skip, skip + limit)
  const places = order.map((index) => record.locationOf(index))
  const data: ScrapeData[] = []
  const damaged = new Map<number, DamagedPage>()
  const file = order.length > 0 ? await PageFile.forReading(logs.pages) : undefined
  let chars = 0
  try {
    for (const [at, place] of places.entries()) {
      chars += place.length
      if (data.length > 0 && chars > limits.crawl.answerChars) break
      const kept = await file!.tryRead(place)
      if (kept instanceof DamagedPage) damaged.set(order[at]!, kept)
      data.push(kept instanceof DamagedPage ? { metadata: { sourceURL: '' } } : kept.page)
    }
  } finally {
    await file?.close()
  }
  const found = await pagesAt(logs.journal, bytes, new Set(damaged.keys()))
  for (const [index, error] of damaged) data[order.indexOf(index)] = placeholderOf(found.get(index)!.url, error)
  const next = skip + data.length
  const warning =
    damaged.size > 0 ? `${damaged.size} kept pages are damaged; resume the crawl to fetch them again` : undefined
  return { data, next: next < completed ? next : undefined, warning }
}

function skipReasonOf({ finished }: Pick<CrawlRecord, 'finished'>): SkipReason {
  if (finished?.status === 'cancelled') return 'cancelled'
  return finished?.status === 'failed' ? 'out_of_time' : 'limit'
}

/** Changes since an earlier crawl. */
class ChangeCount {
  /** By index in `data`: a page that is scraped again replaces the earlier one. */
  readonly #pages = new Map<number, { url: string; change: ChangeStatus | undefined }>()
  readonly #removed: string[] = []

  add({ type, data }: JournalLine): void {
    if (type === 'crawl.page') this.#pages.set(data.index, { url: data.url, change: data.change })
    if (type === 'crawl.removed') this.#removed.push(...data.urls)
  }

  answer(): SiteChanges {
    const pages = [...this.#pages.values()]
    const having = (status: ChangeStatus) => pages.filter(({ change }) => change === status).map(({ url }) => url)
    const listed = (urls: readonly string[]) => urls.slice(0, limits.crawl.listed)
    return {
      new: listed(having('new')),
      changed: listed(having('changed')),
      removed: listed([...having('removed'), ...this.#removed]),
      unchanged: having('same').length,
    }
  }
}

/** Returns errors, skipped and blocked URLs in the order of the journal. */
export async function accountsOf(record: CrawlRecord, logs: CrawlLogs) {
  const { finished, queued, taken, bytes } = record
  const { skipped: total } = record.counts()
  const errors: CrawlError[] = []
  const skipped: CrawlSkipped[] = []
  const blocked: string[] = []
  const frontier = new Frontier(logs.journal)
  const changes = record.input.since === undefined ? undefined : new ChangeCount()
  for await (const placed of readJournal(logs.journal, 0, bytes)) {
    const { line } = placed
    if (line.type === 'crawl.error') errors.push(line.data)
    if (line.type === 'crawl.skipped' && skipped.length < limits.crawl.listed) skipped.push(...line.data.skipped)
    if (line.type === 'crawl.robots_blocked') blocked.push(...line.data.urls)
    changes?.add(line)
    if (finished) frontier.push(placed)
  }
  if (finished && queued > 0 && skipped.length < limits.crawl.listed) {
    await frontier.drop(taken)
    const reason = skipReasonOf({ finished })
    for (let left = Math.min(queued, limits.crawl.listed - skipped.length); left > 0; left -= 1) {
      const waiting = await frontier.next()
      if (waiting) skipped.push({ url: waiting.url, reason })
    }
  }
  return {
    errors,
    skipped: skipped.slice(0, limits.crawl.listed),
    skipped_total: total,
    robots_blocked: blocked,
    ...(changes && { changes: changes.answer() }),
  }
}
