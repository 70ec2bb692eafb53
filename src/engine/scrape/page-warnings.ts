/** Warnings about pages that were loaded nevertheless. */
import { STATUS_CODES } from 'node:http'
import type { ScrapeAnswer, WarningCode } from '../../core/shapes/scrape.ts'
import type { ResponseHeaders } from '../egress/response-headers.ts'
import type { PageResponse } from '../render/http/fetch.ts'
import { loginUrl } from './identity/login.ts'
import { type LoadedPage, showsText } from './loaded-page.ts'
import type { ScrapePlan } from './plan.ts'

/** Returns the fetched page with a warning that no browser was found for rendering it. */
export const withoutBrowser = (page: LoadedPage): LoadedPage =>
  withWarning(page, 'the page may be incomplete: it needs a browser, and none was found')

/** Returns the fetched page with a warning that rendering failed; undefined when it has no text. */
export const withRenderFailure = (page: LoadedPage, error: string): LoadedPage | undefined =>
  showsText(page) ? withWarning(page, renderFailure(error), 'render_failed') : undefined

/** Returns the warning about a page that could not be rendered. */
export const renderFailure = (error: string): string =>
  `the page may be incomplete: it could not be rendered (${error})`

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

/** Adds a warning to the answer of a page. */
export const withAnswerWarning = (answer: ScrapeAnswer, warning: string, code?: WarningCode): ScrapeAnswer => ({
  ...answer,
  warning: [answer.warning, warning].filter(Boolean).join('; '),
  ...(code && { warning_code: code }),
})

/** Adds a warning to a page; the first code remains. */
export function withWarning(page: LoadedPage, warning: string, newCode?: WarningCode): LoadedPage {
  const { reading, warnings } = page
  const code = page.warningCode ? undefined : newCode
  const written = reading?.written
  const warned = written && { ...written, answer: withAnswerWarning(written.answer, warning, code) }
  return {
    ...page,
    warnings: [...warnings, warning],
    ...(code && { warningCode: code }),
    ...(warned && { reading: { ...reading, written: warned } }),
  }
}

/** Adds a warning to a page that asks for a login although it was read with credentials. */
export function withLoginWarning({ url, identity }: ScrapePlan, page: LoadedPage): LoadedPage {
  const asking = identity?.hasCredentials ? loginUrl(url, page) : undefined
  if (asking === undefined) return page
  // The password of the URL and the values of its query may be secrets.
  const { origin, pathname } = new URL(asking)
  return withWarning(page, `the page asks for a login: ${origin}${pathname}`, 'login_required')
}
