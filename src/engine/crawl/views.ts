/** Builds the API responses of crawls, wherever they are stored. */
import type { Call } from '../../core/operation/call.ts'
import { BaxError, type ErrorCode, errorTable } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type {
  CrawlAccepted,
  CrawlAccounts,
  CrawlAnswer,
  CrawlEventData,
  CrawlInput,
  CrawlListed,
  CrawlState,
  CrawlStatus,
  CrawlUsage,
} from '../../core/shapes/crawl.ts'
import { webhookOf } from '../../core/shapes/jobs/webhook.ts'
import { accountsOf, outcomeOf, pagesOf, type PageRange } from './responses.ts'
import type { CrawlLogs } from './store/log.ts'
import type { CrawlRecord } from './store/record.ts'

/**
 * A crawl. The record changes while the crawl runs: responses read all they need from it before they first wait, and the
 * logs up to that state.
 */
export interface CrawlView {
  readonly record: CrawlRecord
  readonly logs: CrawlLogs
  readonly isRunning: boolean
  /** Whether the crawl is to be resumed, but no process has continued it yet. */
  readonly isWaiting?: boolean
}

const crawlUrl = (id: string, { baseUrl }: Call): string => `${baseUrl}/v1/crawl/${id}`

/** @throws BaxError `invalid_request` for more pages than the server allows */
export function assertLimit({ limit }: CrawlInput, mostPages: number): void {
  if (limit <= mostPages) return
  const message = `must be at most ${mostPages}`
  throw new BaxError('invalid_request', `limit ${message}`, {
    hint: 'the operator of the server can raise the limit with BAX_CRAWL_PAGES',
    details: [{ path: 'limit', message }],
  })
}

/** @throws BaxError `conflict` for a crawl that cannot be resumed */
export function assertResumable({ finished, startFailure }: CrawlRecord, isDamaged: boolean): void {
  if (finished?.status === 'completed' && !isDamaged) throw new BaxError('conflict', 'the crawl has been completed')
  if (startFailure) throw new BaxError('conflict', 'the crawl failed at its start page: start a new one')
}

/** Returns the status of a crawl that has ended by being cancelled. @throws BaxError `conflict` if it ended otherwise */
export function cancelledStatus(status: CrawlStatus): 'cancelled' {
  if (status === 'cancelled') return status
  throw new BaxError('conflict', `the crawl has ${status === 'completed' ? 'been completed' : 'failed'} already`)
}

export const acceptedAnswer = (id: string, call: Call): CrawlAccepted => ({
  success: true,
  id,
  url: crawlUrl(id, call),
})

/** Returns a crawl that has ended, with all pages. @throws BaxError for failures of the server */
export async function wholeAnswer(view: CrawlView, call: Call): Promise<CrawlAnswer> {
  const { record, logs } = view
  throwServerErrors(record)
  const state = {
    ...outcomeOf(record, { url: crawlUrl(record.id, call), isRunning: false }),
    duration_ms: record.activeMs(),
  }
  const [{ part }, accounts] = await Promise.all([
    pagesIn(view, { skip: 0, limit: Infinity }, call),
    accountsOf(record, logs),
  ])
  return { ...state, ...part, ...accounts }
}

export async function stateAnswer(view: CrawlView, range: PageRange, call: Call): Promise<CrawlState> {
  const { record, isRunning, isWaiting } = view
  const state: Omit<CrawlState, 'data' | 'next'> = {
    ...outcomeOf(record, { url: crawlUrl(record.id, call), isRunning, isWaiting }),
    kind: record.input.list?.kind ?? 'crawl',
    created_at: record.createdAt,
    expires_at: new Date(Date.parse(record.lastAt) + limits.crawl.keptMs).toISOString(),
    duration_ms: record.activeMs(isRunning ? Date.now() : undefined),
  }
  const { part, warning } = await pagesIn(view, range, call)
  return { ...addWarning(state, warning), ...part }
}

export function listedAnswer({ record, isRunning, isWaiting }: Listed, call: Call): CrawlListed {
  return {
    ...outcomeOf(record, { url: crawlUrl(record.id, call), isRunning, isWaiting }),
    kind: record.input.list?.kind ?? 'crawl',
    start_url: record.input.url,
    errors: record.counts().errors,
    created_at: record.createdAt,
    duration_ms: record.activeMs(isRunning ? Date.now() : undefined),
  }
}

type Listed = Omit<CrawlView, 'logs'>

/** Returns the use of an engine by a caller; `progress` is that of the running crawls. */
export function usageAnswer(
  listed: readonly Listed[],
  progress: readonly Pick<CrawlEventData['crawl.progress'], 'current' | 'queued'>[],
): CrawlUsage {
  const running = listed.filter(({ isRunning, isWaiting, record }) => isWaiting || (isRunning && !record.finished))
  const completed = listed.filter(({ record }) => record.finished?.status === 'completed')
  const active = progress.reduce((sum, { current }) => sum + current.length, 0)
  const unfinished = progress.reduce((sum, { queued }) => sum + queued, 0)
  return {
    crawls: running.map(({ record: { id, input, createdAt } }) => ({
      id,
      url: input.url,
      kind: input.list?.kind ?? 'crawl',
      created_at: createdAt,
      options: optionsOf(input),
    })),
    active,
    waiting: Math.max(0, unfinished - active),
    latest_success:
      completed
        .map(({ record }) => record.lastAt)
        .toSorted()
        .at(-1) ?? null,
  }
}

/** Returns the input of a crawl without its identity and the secrets of its webhook. */
function optionsOf(whole: CrawlInput): Record<string, unknown> {
  const { webhook, identity: _, ...input } = whole
  return webhook === undefined ? input : { ...input, webhook: { url: webhookOf(webhook).url } }
}

export async function accountsAnswer({ record, logs }: CrawlView): Promise<CrawlAccounts> {
  return { success: true, ...(await accountsOf(record, logs)) }
}

async function pagesIn({ record, logs }: CrawlView, part: PageRange, call: Call) {
  const { data, next, warning } = await pagesOf(record, logs, part)
  // With a limit of 0, the next page would be the same one again.
  const size = part.limit > 0 && Number.isFinite(part.limit) ? `&limit=${part.limit}` : ''
  const more = next !== undefined && { next: `${crawlUrl(record.id, call)}?skip=${next}${size}` }
  return { part: { data, ...more }, warning }
}

/** Throws server-side errors, such as a missing browser. Other failures of the start page are part of the response. */
function throwServerErrors({ startFailure }: CrawlRecord): void {
  const code = startFailure?.code as ErrorCode | undefined
  if (code !== undefined && errorTable[code]?.status >= 500) throw new BaxError(code, startFailure!.error)
}

const addWarning = <Outcome extends { warning?: string }>(outcome: Outcome, more: string | undefined): Outcome =>
  more === undefined ? outcome : { ...outcome, warning: [outcome.warning, more].filter(Boolean).join('; ') }
