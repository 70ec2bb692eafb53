/** Warnings about statuses of responses. */
import { STATUS_CODES } from 'node:http'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { ResponseHeaders } from '../egress/response-headers.ts'
import type { PageResponse } from '../render/http/fetch.ts'

/** Returns the warning about a response whose status says that it is not a whole page; undefined for other statuses. */
export function statusWarning({ status, headers }: PageResponse): Pick<ScrapeAnswer, 'warning' | 'warning_code'> {
  const warning = `the page answered ${status} ${STATUS_CODES[status] ?? `HTTP ${status}`}`
  if (status === 206) return isWholeRange(headers) ? {} : { warning, warning_code: 'incomplete_response' }
  return status === 204 || status === 205 || status >= 300 ? { warning } : {}
}

/** Whether a part of a page is all of it. */
function isWholeRange(headers: ResponseHeaders): boolean {
  const [, last, size] = /^bytes 0-(\d+)\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  return last !== undefined && Number(last) + 1 === Number(size)
}
