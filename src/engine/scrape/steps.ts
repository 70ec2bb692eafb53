/** A scrape as separate steps, for callers that inspect a page before they write the answer. */
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { Egress } from '../egress/egress.ts'
import type { LoadedPage } from './loaded-page.ts'
import type { ScrapePlan } from './plan.ts'
import type { WriteCondition } from './reading.ts'
import type { VisitResponses } from './visit-responses.ts'

interface Deadline {
  readonly signal: AbortSignal
  /** Deadline, as `performance.now()`. */
  readonly deadline: number
}

interface StoredResponses {
  /** Responses stored by an earlier process, and the store for those of this one. */
  readonly answers?: VisitResponses
}

/** All steps throw BaxError for failures of the page, or the reason of the signal. */
export interface PageSteps {
  readonly egress: Egress
  /** Checks a plan before its page is loaded. @throws BaxError `invalid_request`, `model_not_configured` */
  check(plan: ScrapePlan): Promise<void>
  /** Starts the worker threads, before many pages are read. */
  begin(): void
  /**
   * Fetches a page over HTTP, and follows redirects. Worker threads, if available, read large pages, or with `all`
   * every HTML page, and write the answer according to `write`.
   */
  fetch(
    plan: ScrapePlan,
    options: Pick<Deadline, 'signal'> & StoredResponses & { readonly all: boolean; readonly write: WriteCondition },
  ): Promise<{ page: LoadedPage; isHtml: boolean }>
  /** Renders a page in a browser. */
  render(plan: ScrapePlan, options: Deadline & StoredResponses): Promise<LoadedPage>
  /** Creates the answer with the requested formats; `start` is `performance.now()` at the beginning of the scrape. */
  write(
    plan: ScrapePlan,
    page: LoadedPage,
    options: { readonly signal: AbortSignal; readonly start: number },
  ): Promise<ScrapeAnswer>
}
