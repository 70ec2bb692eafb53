/** Warnings about pages that were loaded nevertheless. */
import type { ScrapeAnswer, WarningCode } from '../../core/shapes/scrape.ts'
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

/** Whether a warning says that a part of the page is missing. */
export const isPartial = (code?: WarningCode): boolean => code === 'render_failed' || code === 'incomplete_response'

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
  const { origin, pathname, hash } = new URL(asking)
  const [route = ''] = /^#!?\/[^?&]*/.exec(hash) ?? []
  return withWarning(page, `the page asks for a login: ${origin}${pathname}${route}`, 'login_required')
}
