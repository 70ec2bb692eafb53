/** A scrape in three steps, for those who look at a page before they have it written. */
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { Egress } from '../egress/egress.ts'
import type { ObtainedPage } from './load-page.ts'
import type { ScrapePlan } from './plan.ts'
import type { WriteWish } from './reading.ts'
import type { VisitAnswers } from './visit-answers.ts'

interface Clock {
  readonly signal: AbortSignal
  /** `performance.now()` at which the time is up. */
  readonly deadline: number
}

interface Kept {
  /** Answers that an earlier process has kept, and where those of this one go. */
  readonly answers?: VisitAnswers
}

/** All throw BaxError with the code of what went wrong with the page, or the reason of the signal. */
export interface PageSteps {
  readonly egress: Egress
  /** @throws BaxError for what no page could be asked for here */
  check(plan: ScrapePlan): Promise<void>
  /** Says that many pages are to come: what reads them is made ready. */
  begin(): void
  /**
   * By HTTP, redirects followed. Where there are threads they read the HTML of large pages, or of `all`, and write it if
   * so wished.
   */
  fetch(
    plan: ScrapePlan,
    wish: Pick<Clock, 'signal'> & Kept & { readonly all: boolean; readonly write: WriteWish },
  ): Promise<{ page: ObtainedPage; isHtml: boolean }>
  /** In a browser. */
  render(plan: ScrapePlan, clock: Clock & Kept): Promise<ObtainedPage>
  /** The formats that were asked for; `start` is `performance.now()` at the beginning of the scrape. */
  write(
    plan: ScrapePlan,
    page: ObtainedPage,
    clock: { readonly signal: AbortSignal; readonly start: number },
  ): Promise<ScrapeAnswer>
}
