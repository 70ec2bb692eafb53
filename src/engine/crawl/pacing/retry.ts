/** Retries of failed pages: which errors are temporary, and how long to wait. */
import { setTimeout as pause } from 'node:timers/promises'
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { LoadedPage } from '../../scrape/loaded-page.ts'
import type { HostGate } from './host-gate.ts'

const { busyTries, downTries, retries, retryMs } = limits.crawl

const temporary: ReadonlySet<string> = new Set<ErrorCode>([
  'page_crashed',
  'target_closed',
  'navigation_aborted',
  'browser_failed',
  'worker_lost',
  'server_error',
])

export interface RetryContext {
  readonly attempt: number
  readonly gate: HostGate
  readonly left: number
  /** The start page has fewer retries: its URL may be mistyped. */
  readonly isStart: boolean
  readonly signal: AbortSignal
}

/** Resolves when it is time to retry. @throws the error if a retry makes no sense, or the signal's reason */
export async function waitForRetry(error: BaxError, { attempt, gate, left, isStart, signal }: RetryContext) {
  const tries = attempt + 1
  const afterMs = error.retryAfterSecs === undefined ? undefined : error.retryAfterSecs * 1000
  if (error.code === 'rate_limited' || afterMs !== undefined) {
    if (tries >= (isStart ? retries : busyTries) || !gate.refused('busy', afterMs)) throw error
    return
  }
  if (left < retryMs) throw error
  if (error.code === 'connection_failed' || error.code === 'dns_failed') {
    if (tries >= (isStart ? retries : downTries) || !gate.refused('down')) throw error
    return
  }
  if (!temporary.has(error.code) || attempt >= retries) throw error
  await pause(retryMs * 2 ** attempt, undefined, { signal })
}

/** @throws BaxError for a response that is not the page: the server is busy or failing */
export function checkStatus({ status, headers }: LoadedPage): void {
  if (status !== 429 && status < 500) return
  const after = retryAfter(headers.get('retry-after'))
  const extras = { details: { status_code: status }, ...(after !== undefined && { retryAfterSecs: after }) }
  if (status === 429) throw new BaxError('rate_limited', 'the site rate-limits requests (429)', extras)
  throw new BaxError('server_error', `the site responded with ${status}`, extras)
}

/** Returns the seconds in a Retry-After header, which is a number or a date. */
export function retryAfter(value: string | null, now = Date.now()): number | undefined {
  if (value === null) return undefined
  const secs = /^\s*\d+\s*$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000
  return Number.isFinite(secs) ? Math.max(0, secs) : undefined
}
