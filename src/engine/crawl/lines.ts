/** The first and the last lines of a crawl's journal. */
import type { BaxError } from '../../core/errors/errors.ts'
import type { CrawlStatus } from '../../core/shapes/crawl.ts'
import { outOfTime } from './abort.ts'
import type { CrawlPlan } from './plan.ts'
import { chunks } from './queue/discovery.ts'
import { type JournalEntry, warning } from './store/journal.ts'
import type { CrawlRecord } from './store/record.ts'

export function startLines(record: CrawlRecord, { start, list }: CrawlPlan): JournalEntry[] {
  const { id, input, createdAt, owner } = record
  const { limit, max_depth } = input
  const request = { input, created_at: createdAt, owner }
  return [
    { type: 'crawl.started', data: { id, url: start.href, limit, max_depth }, own: { request } },
    ...(list ? listLines(list, input.list!.urls.length) : [found([start.href])]),
  ]
}

function listLines(list: ReadonlyMap<string, string>, listed: number): JournalEntry[] {
  const repeated = listed - list.size
  return [
    ...chunks([...list.keys()]).map(found),
    ...(repeated > 0 ? [warning(`${repeated} of the URLs are listed more than once, and are visited once`)] : []),
  ]
}

const found = (urls: string[]): JournalEntry => ({ type: 'crawl.found', data: { urls, depth: 0 } })

/** `cause` is the error of a crawl that failed before or after its pages. */
export function finishLine(record: CrawlRecord, status: CrawlStatus, cause?: BaxError): JournalEntry {
  const { success, startFailure, input, queued } = record
  const given = cause && { error: cause.message, code: cause.code }
  const failure = status === 'failed' ? (given ?? startFailure ?? outOfTime(input.timeout_secs)) : undefined
  const duration_ms = record.activeMs(Date.now())
  const counts = { ...record.counts(), total: record.admitted, skipped: record.counts().skipped + queued }
  return { type: 'crawl.finished', data: { status, success, ...counts, duration_ms, ...failure } }
}
