/**
 * Decides between the fetched and the rendered form of the pages of a crawl, as the policy in
 * `render/decide/fetch-or-render.ts` demands. Pages are loaded ahead of time, and corrected when it is their turn
 * (`finish`).
 */
import { BaxError } from '../../core/errors/errors.ts'
import { showsMore } from '../render/decide/difference.ts'
import type { CrawlPolicy, PageKind, RenderingFacts } from '../render/decide/fetch-or-render.ts'
import { isBrowserMissing } from '../scrape/load-page.ts'
import { renderFailure, withAnswerWarning } from '../scrape/page-warnings.ts'
import {
  type ComparedForms,
  isAudited,
  type LoadedVisit,
  type PageForm,
  type PageSource,
  type WrittenPage,
} from './pages/page-source.ts'
import type { RunFacts } from './run-facts.ts'
import type { FailedVisit, Visited } from './visit.ts'

export interface VisitedPage extends LoadedVisit, WrittenPage {
  readonly ok: true
}

/** A page as it goes into `data`, with facts for the policy. */
export interface FinishedPage {
  readonly page: VisitedPage
  readonly facts?: RenderingFacts
}

/** Returns whether the crawl has already found a URL. */
type IsKnown = (url: URL) => boolean

export interface DecisionFacts extends Pick<RunFacts, 'plan'> {
  readonly source: PageSource
  readonly policy: CrawlPolicy
  readonly signal: AbortSignal
}

export class PageDecisions {
  readonly #facts: DecisionFacts

  constructor(facts: DecisionFacts) {
    this.#facts = facts
  }

  /** Renders a fetched page of the sample for comparison; undefined if that fails. */
  async audit(url: string, loaded: LoadedVisit): Promise<PageForm | undefined> {
    if (loaded.audit !== undefined || !isAudited(loaded)) return loaded.audit ?? undefined
    const rendered = await this.#tryRender(url, loaded.page)
    return rendered instanceof BaxError ? undefined : rendered
  }

  /** Converts a loaded page to the requested formats. */
  async write(url: string, loaded: LoadedVisit): Promise<VisitedPage> {
    return { ok: true, ...loaded, ...(await this.#facts.source.write(url, loaded.page)) }
  }

  /** Applies the current policy to a page, which may have been loaded before earlier pages were finished. */
  async finish(url: string, visited: Visited, isKnown: IsKnown): Promise<FinishedPage | FailedVisit> {
    if (!visited.ok) return this.#finishUnrendered(url, visited)
    const { kind, page, fetched } = visited
    if (!kind) return { page: visited }
    const { policy } = this.#facts
    const mode = policy.mode(kind)
    if (page.render === 'browser') {
      const isCompared = fetched && policy.isUnproven(kind)
      const more = isCompared
        ? await this.#showsMore(url, { fetched, rendered: page, isPromised: true }, isKnown)
        : undefined
      if (mode === 'http' && fetched) return this.#finished(url, fetched, { ...kind, render: 'http' })
      return { page: visited, facts: { ...kind, render: 'browser', ...(more !== undefined && { more }) } }
    }
    return mode === 'browser'
      ? this.#finishRendered(url, visited, kind)
      : this.#finishAudited(url, visited, kind, isKnown)
  }

  /** Keeps a page that could not be rendered as it was fetched, with a warning if a browser was needed. */
  async #finishUnrendered(url: string, visit: FailedVisit): Promise<FinishedPage | FailedVisit> {
    if (!visit.fetched) return visit
    const { policy, plan, source } = this.#facts
    const { page, kind } = visit.fetched
    if (kind && policy.mode(kind) !== 'browser') return this.#finished(url, page, { ...kind, render: 'http' })
    if (!source.hasText(page)) return visit
    const written = await this.write(url, { page })
    if (plan.input.dry_run) return { page: written }
    return {
      page: { ...written, answer: withAnswerWarning(written.answer, renderFailure(visit.error), 'render_failed') },
    }
  }

  async #finishRendered(url: string, visited: VisitedPage, kind: PageKind): Promise<FinishedPage | FailedVisit> {
    const rendered = await this.#tryRender(url)
    if (!(rendered instanceof BaxError)) return this.#finished(url, rendered, { ...kind, render: 'browser' })
    // The warning about the missing browser is already in the page.
    if (isBrowserMissing(rendered)) return { page: visited }
    const { message: error, code } = rendered
    return this.#finishUnrendered(url, { ok: false, blocked: false, error, code, fetched: { page: visited.page } })
  }

  /** Compares the first page of a kind, and those of the sample, with their rendered form. */
  async #finishAudited(url: string, visited: VisitedPage, kind: PageKind, isKnown: IsKnown): Promise<FinishedPage> {
    const { page } = visited
    const rendered = visited.audit ?? (this.#facts.policy.isFirst(kind) ? await this.#tryRender(url, page) : undefined)
    const more =
      rendered && !(rendered instanceof BaxError)
        ? await this.#showsMore(url, { fetched: page, rendered, isPromised: false }, isKnown)
        : undefined
    if (more === undefined) return { page: visited, facts: { ...kind, render: 'http' } }
    if (!more) return { page: visited, facts: { ...kind, render: 'http', more, audited: true } }
    return this.#finished(url, rendered as PageForm, { ...kind, render: 'browser', more, audited: true })
  }

  async #finished(url: string, page: PageForm, facts: RenderingFacts): Promise<FinishedPage> {
    return { page: await this.write(url, { page }), facts }
  }

  /** Returns whether the rendered form shows more; undefined if the forms cannot be compared. */
  async #showsMore(url: string, forms: ComparedForms, isKnown: IsKnown): Promise<boolean | undefined> {
    const comparison = await this.#facts.source.compare(url, forms)
    return comparison && showsMore(comparison, isKnown)
  }

  async #tryRender(url: string, fetched?: PageForm): Promise<PageForm | BaxError> {
    const { signal, source } = this.#facts
    try {
      return await source.render(url, fetched)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof BaxError) return error
      throw error
    }
  }
}
