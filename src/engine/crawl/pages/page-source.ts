/** Source of a crawl's pages: this process, or the workers of a fleet. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { ScrapeAnswer } from '../../../core/shapes/scrape.ts'
import type { Comparison } from '../../render/decide/difference.ts'
import { type CrawlPolicy, isSampled, type PageKind } from '../../render/decide/fetch-or-render.ts'
import { present } from '../../scrape/documents/document.ts'
import type { Validators } from '../earlier.ts'
import type { PageTrace } from '../../extract/main-content/site/outline.ts'
import type { TimeBudget } from '../pacing/budget.ts'

/** One form of a page, as fetched or as rendered; its content may be elsewhere. */
export interface PageForm {
  /** URL after all redirects. */
  readonly url: string
  readonly render: 'http' | 'browser'
}

/** A loaded page, before it is converted to the requested formats. */
export interface LoadedVisit<Form extends PageForm = PageForm> {
  readonly page: Form
  /** Undefined for content that a browser does not change. */
  readonly kind?: PageKind
  /** The fetched form of a rendered page, if the two may have to be compared. */
  readonly fetched?: Form
  /** The rendered form of a fetched page, for comparison; null if it could not be rendered. */
  readonly audit?: Form | null
}

/** A page in the requested formats. */
export interface WrittenPage {
  readonly final: URL
  readonly links: readonly string[]
  readonly answer: ScrapeAnswer
  /** Validators of the response, if it has any. */
  readonly validators?: Validators
  readonly trace?: PageTrace
}

export interface LoadRequest {
  /** The policy as it is now; the page is corrected when it is its turn. */
  readonly policy: CrawlPolicy
  readonly budget: TimeBudget
  /** Form to load, whatever the policy. */
  readonly force?: 'http' | 'browser' | undefined
}

/** All methods reject with a BaxError for failures of the page, or the reason of the crawl's signal. */
export interface PageSource {
  /** Prepares for many pages. */
  begin(): void
  /** Loads a queued URL. @throws UnrenderedError if only rendering failed, `rate_limited`, `server_error` by status */
  load(url: string, request: LoadRequest): Promise<LoadedVisit>
  /** Renders a queued URL; `fetched` is the form that it will be compared with. */
  render(url: string, fetched?: PageForm): Promise<PageForm>
  /** Converts a form of a page to the requested formats. */
  write(url: string, form: PageForm): Promise<WrittenPage>
  /** Compares two forms of a page; undefined for content that cannot be compared. */
  compare(url: string, forms: ComparedForms): Promise<Comparison | undefined>
  /** Whether a fetched HTML page has text. */
  hasText(form: PageForm): boolean
  /** Returns the memory that a form uses in addition to its text, in characters. */
  weightOf(form: PageForm): number
}

export interface ComparedForms<Form extends PageForm = PageForm> {
  readonly fetched: Form
  readonly rendered: Form
  /** Whether the markup suggests missing content. */
  readonly isPromised: boolean
}

/** Returns whether a page belongs to the sample that is also rendered, to check the decision against it. */
export const isAudited = ({ page, kind }: LoadedVisit): boolean =>
  kind !== undefined && page.render !== 'browser' && isSampled(page.url)

/** Thrown when a fetched page could not be rendered; has the code of its cause. */
export class UnrenderedError extends BaxError {
  readonly fetched: LoadedVisit

  constructor(cause: BaxError, fetched: LoadedVisit) {
    const { code, message, details, retryAfterSecs, unavailable } = cause
    super(code, message, { cause, ...(unavailable && { unavailable }), ...present({ details, retryAfterSecs }) })
    this.fetched = fetched
  }
}
