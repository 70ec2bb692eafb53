/** Gets one page: politely, again when it failed for a reason that passes, over HTTP or in a browser. */
import type { Log } from '../../core/config/config.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { renderedAtOnce } from '../render/browser/at-once.ts'
import { templateOf } from '../render/decide/template.ts'
import { linksOf } from '../scrape/formats/links.ts'
import { isReadable, type ObtainedPage, reasonOf, withoutBrowser } from '../scrape/load-page.ts'
import type { ScrapePlan } from '../scrape/plan.ts'
import type { WriteWish } from '../scrape/reading.ts'
import type { PageSteps } from '../scrape/steps.ts'
import { crawlable } from './queue/address.ts'
import { Budget } from './pacing/budget.ts'
import type { Waiting } from './queue/frontier.ts'
import type { KeptAnswers } from './store/kept-responses.ts'
import { HostGate, type HostGates } from './pacing/host-gate.ts'
import { isSampled, type Judge, type PageKind } from './decide-rendering.ts'
import type { CrawlPlan } from './plan.ts'
import type { Robots } from './queue/robots.ts'
import { checkStatus, nextTry } from './pacing/retry.ts'

/** A page that was had, before it is written. */
export interface Obtained {
  readonly page: ObtainedPage
  /** Undefined for what is the same in a browser. */
  readonly kind?: PageKind
  /** What was fetched, where the page is a rendered one and the two may have to be compared. */
  readonly fetched?: ObtainedPage
  /** What was rendered for comparison, where the page is a fetched one. */
  readonly audit?: ObtainedPage
}

export interface VisitedPage extends Obtained {
  readonly ok: true
  readonly final: URL
  readonly links: readonly string[]
  readonly answer: ScrapeAnswer
}

export interface FailedVisit {
  readonly ok: false
  readonly blocked: boolean
  readonly code: string
  readonly error: string
  readonly status?: number
  /** What was fetched before rendering failed. */
  readonly fetched?: Obtained
}

export type Visited = VisitedPage | FailedVisit

export interface VisitorFacts {
  readonly plan: CrawlPlan
  readonly steps: PageSteps
  readonly robots: Robots
  readonly gates: HostGates
  readonly judge: Judge
  readonly answers: KeptAnswers
  readonly signal: AbortSignal
  readonly log: Log
}

interface Insistence {
  /** Address of the queue, under which answers are kept. */
  readonly visit: string
  readonly gate: HostGate
  readonly isStart: boolean
  readonly force: 'browser' | undefined
}

export const refused: FailedVisit = {
  ok: false,
  blocked: true,
  code: 'robots_blocked',
  error: 'robots.txt does not allow it',
}

export class Visitor {
  readonly #facts: VisitorFacts
  readonly #tabs = new HostGate(renderedAtOnce)

  constructor(facts: VisitorFacts) {
    this.#facts = facts
  }

  /** Rejects with the reason of the crawl's signal and nothing else. */
  async visit({ url, depth }: Waiting, force?: 'browser'): Promise<Visited> {
    const { robots, gates, plan, signal, log } = this.#facts
    const address = new URL(url)
    const rules = await robots.rulesFor(address)
    if (!rules.allows(url)) return refused
    const gate = gates.of(address)
    gate.spaceOut(rules.delayMs)
    const scrape = plan.page(url)
    try {
      const obtained = await this.#insist(scrape, { gate, visit: url, isStart: depth === 0, force })
      if (!(await this.#allows(obtained.page, { address, depth }))) return refused
      const audit = await this.#audit(scrape, url, obtained)
      return await this.written(scrape, { ...obtained, ...(audit && { audit }) })
    } catch (error) {
      signal.throwIfAborted()
      const failure = failureOf(error)
      if (failure.fetched && !(await this.#allows(failure.fetched.page, { address, depth }))) return refused
      // A fault of ours is one page's error, and the log's.
      if (failure.code === 'internal_error') log('error', 'a page could not be crawled', { url, error: String((error as Error).stack) }) // prettier-ignore
      return failure
    }
  }

  /** Whether robots.txt allows the page that an address has led to. */
  async #allows({ url }: ObtainedPage, { address, depth }: { address: URL; depth: number }): Promise<boolean> {
    const { robots, plan } = this.#facts
    const final = crawlable(url) ?? address
    // What leads to a host that is not crawled is refused for that.
    const { allow_external_links: anywhere, allow_subdomains: subdomains } = plan.input
    const asks = final.origin === address.origin || depth === 0 || anywhere || subdomains
    return !asks || (await robots.rulesFor(final)).allows(final.href)
  }

  /** The page in the formats that were asked for. */
  async written(scrape: ScrapePlan, obtained: Obtained): Promise<VisitedPage> {
    const { plan, steps, signal } = this.#facts
    const { page } = obtained
    const { reading } = page
    const start = performance.now()
    const answer = plan.input.dry_run
      ? planned(scrape, page)
      : (reading?.answer ??
        (await new Budget(scrape, signal).spend((inner) => steps.write(scrape, page, { signal: inner, start }))))
    const links = reading?.links ?? linksOf(page.document.tree).map(({ href }) => href)
    return {
      ok: true,
      ...obtained,
      final: crawlable(page.url) ?? new URL(scrape.url),
      links,
      answer: repeatable(answer),
    }
  }

  /** The page as a browser shows it; the time in which all tabs are taken is not the page's. @throws BaxError */
  async render(
    scrape: ScrapePlan,
    visit: string,
    budget = new Budget(scrape, this.#facts.signal),
  ): Promise<ObtainedPage> {
    const answers = this.#facts.answers.of(visit)
    const leave = await this.#tabs.enter(this.#facts.signal)
    try {
      return await budget.spend((signal, deadline) => this.#facts.steps.render(scrape, { signal, deadline, answers }))
    } finally {
      leave()
    }
  }

  async #insist(scrape: ScrapePlan, { gate, visit, isStart, force }: Insistence): Promise<Obtained> {
    const { signal } = this.#facts
    const budget = new Budget(scrape, signal)
    for (let attempt = 0; ; attempt++) {
      // Nobody is asked for what was kept.
      const leave = this.#facts.answers.has(visit) ? () => {} : await gate.enter(signal)
      try {
        const obtained = await this.#obtain(scrape, visit, budget, force)
        checkStatus(obtained.page)
        gate.eased()
        return obtained
      } catch (error) {
        leave()
        signal.throwIfAborted()
        await nextTry(asBaxError(error), { attempt, gate, left: budget.leftMs, isStart, signal })
      } finally {
        leave()
      }
    }
  }

  async #obtain(scrape: ScrapePlan, visit: string, budget: Budget, force: 'browser' | undefined): Promise<Obtained> {
    const { steps, judge, plan } = this.#facts
    const answers = this.#facts.answers.of(visit)
    const { render } = plan.input
    if (render === 'browser' || (render === 'auto' && scrape.browserOnly))
      return { page: await this.render(scrape, visit, budget) }
    const { page, isHtml } = await budget.spend((signal) =>
      steps.fetch(scrape, { signal, answers, ...this.#reading(scrape) }),
    )
    const kind = isHtml && render === 'auto' ? kindOf(page) : undefined
    if (!kind || page.status === 429 || page.status >= 500) return { page }
    if (force === 'browser' || judge.mode(kind) === 'browser')
      return this.#rendered(scrape, visit, budget, { page, kind })
    return { page, kind }
  }

  /** What is to be made of HTML while it is read in a thread, and whether the crawl is long enough for all of it. */
  #reading({ url }: ScrapePlan): { all: boolean; write: WriteWish } {
    const { plan, judge } = this.#facts
    const { limit, dry_run: dry, render } = plan.input
    const all = limit >= limits.reading.worthwhile
    if (dry) return { all, write: 'never' }
    return { all, write: render === 'auto' ? judge.vainReasons(new URL(url).host) : 'always' }
  }

  /** The rendered form of a page of the sample. */
  async #audit(scrape: ScrapePlan, visit: string, { page, kind }: Obtained): Promise<ObtainedPage | undefined> {
    if (!kind || page.render === 'browser' || !isSampled(page.url)) return undefined
    try {
      return await this.render(scrape, visit)
    } catch (error) {
      this.#facts.signal.throwIfAborted()
      // That a page cannot be rendered says nothing against what was fetched.
      if (error instanceof BaxError) return undefined
      throw error
    }
  }

  async #rendered(scrape: ScrapePlan, visit: string, budget: Budget, fetched: Obtained): Promise<Obtained> {
    const { kind } = fetched
    const open = kind !== undefined && this.#facts.judge.isOpen(kind)
    try {
      const page = await this.render(scrape, visit, budget)
      return { page, ...(kind && { kind }), ...(open && { fetched: fetched.page }) }
    } catch (error) {
      if ((error as BaxError).code === 'browser_not_found' && isReadable(fetched.page))
        return { ...fetched, page: withoutBrowser(fetched.page) }
      this.#facts.signal.throwIfAborted()
      throw new UnrenderedError(asBaxError(error), fetched)
    }
  }
}

/** A page that was fetched and could not be rendered; its code is that of the cause. */
class UnrenderedError extends BaxError {
  readonly fetched: Obtained

  constructor(cause: BaxError, fetched: Obtained) {
    super(cause.code, cause.message, {
      cause,
      ...(cause.details !== undefined && { details: cause.details }),
      ...(cause.retryAfterSecs !== undefined && { retryAfterSecs: cause.retryAfterSecs }),
    })
    this.fetched = fetched
  }
}

function failureOf(thrown: unknown): FailedVisit {
  const error = asBaxError(thrown)
  const status = (error.details as { status_code?: number } | undefined)?.status_code
  const { fetched } = error as Partial<UnrenderedError>
  return {
    ok: false,
    blocked: false,
    code: error.code,
    error: error.message,
    ...(status !== undefined && { status }),
    ...(fetched && { fetched }),
  }
}

function kindOf(page: ObtainedPage): PageKind | undefined {
  const { document, url, reading } = page
  const template = reading ? reading.template : templateOf(document.tree.root)
  if (template === undefined) return undefined
  const reason = reasonOf(page)
  return { host: new URL(url).host, template, ...(reason && { reason }) }
}

/** Without what differs each time: the same site gives the same crawl. */
function repeatable(answer: ScrapeAnswer): ScrapeAnswer {
  if (!answer.data) return answer
  const { scrape_id: _id, duration_ms: _time, ...rest } = answer.data.metadata
  const metadata = { ...rest, ...(rest.url && { url: withoutCredentials(rest.url) }) }
  return { ...answer, data: { ...answer.data, metadata } }
}

function withoutCredentials(href: string): string {
  const url = new URL(href)
  if (url.username === '' && url.password === '') return href
  url.username = ''
  url.password = ''
  return url.href
}

/** What there is to say of a page that is not scraped. */
const planned = ({ input }: ScrapePlan, { url, status, render }: ObtainedPage): ScrapeAnswer => ({
  success: true,
  data: { metadata: { sourceURL: input.url, url: withoutCredentials(url), status_code: status, render } },
})
