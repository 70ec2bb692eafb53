/** What becomes of a visited page, decided in the order of the queue: `data`, errors, skipped or blocked, and its links. */
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlError } from '../../core/shapes/crawl.ts'
import { isLackOfBrowser, type ObtainedPage, unrendered } from '../scrape/load-page.ts'
import { Discovery } from './queue/discovery.ts'
import type { Waiting } from './queue/frontier.ts'
import type { JournalEntry, JournalLine, JudgedFacts, OwnFacts } from './store/journal.ts'
import type { Judge, PageKind } from './decide-rendering.ts'
import type { PageFile } from './store/page-file.ts'
import type { CrawlPlan } from './plan.ts'
import { Scope } from './queue/scope.ts'
import { SeenSet } from './queue/seen.ts'
import { areComparable, showsMore } from './content-visibility.ts'
import type { FailedVisit, Visited, VisitedPage, Visitor } from './visit.ts'

export interface SettlerFacts {
  readonly plan: CrawlPlan
  readonly judge: Judge
  readonly visitor: Visitor
  readonly pages: PageFile
}

/** A page as it goes into the answer, with what was learnt from it. */
interface Settled {
  readonly page: VisitedPage
  readonly facts?: JudgedFacts
}

/** Two readings of one page. */
interface Comparison {
  readonly fetched: ObtainedPage
  readonly rendered: ObtainedPage
  /** The markup promises more than was sent. */
  readonly promised: boolean
}

export class Settler {
  readonly #facts: SettlerFacts
  readonly #visited = new SeenSet()
  #scope: Scope
  #discovery: Discovery
  #started = false

  constructor(facts: SettlerFacts) {
    this.#facts = facts
    const { start } = facts.plan
    this.#scope = this.#scopeFrom(start)
    this.#discovery = new Discovery(this.#scope, facts.plan.input.max_depth)
  }

  get scope(): Scope {
    return this.#scope
  }

  /** Takes up a line that was written before; the same happens as when it was written. */
  recall({ type, data, own }: JournalLine): void {
    if (own?.final !== undefined) this.#arrive(new URL(own.final))
    if (type === 'crawl.found') for (const url of data.urls) this.#discovery.know(new URL(url))
    if (type === 'crawl.skipped') for (const { url } of data.skipped) this.#discovery.know(new URL(url))
    if (type === 'crawl.page') {
      this.#visit(new URL(data.url), new URL(own!.final!))
      if (data.replaces) this.#facts.judge.repeated(data.index)
      if (own!.facts) this.#facts.judge.learn(own!.facts, data.index)
    }
    if (own?.visited !== undefined) {
      this.#visit(new URL(own.visited), new URL(own.final!))
      if (own.facts) this.#facts.judge.learn(own.facts, undefined)
    }
  }

  /** Whether a page of this address has been settled, by itself or as the end of a redirect. */
  isVisited(url: string): boolean {
    return this.#visited.has(this.#scope.identity(new URL(url)))
  }

  /** Lines for one address of the queue; `index` is the next place in `data`. */
  async settle(waiting: Waiting, visited: Visited, index: number): Promise<JournalEntry[]> {
    const { url } = waiting
    if (this.#started && this.isVisited(url)) return [skip(url, 'redirect_duplicate')]
    if (!visited.ok && visited.blocked)
      return [{ type: 'crawl.robots_blocked', data: { urls: [url] }, own: { taken: 1 } }]
    const settled = await this.#judged(waiting, visited)
    if (!('page' in settled)) return [failed(waiting, settled)]
    const { page } = settled
    this.#arrive(page.final)
    if (!this.#scope.holds(page.final)) return [failed(waiting, offHost)]
    if (this.isVisited(page.final.href)) {
      this.#visit(new URL(url), page.final)
      return [skip(url, 'redirect_duplicate', { visited: url, final: page.final.href })]
    }
    this.#visit(new URL(url), page.final)
    const links = this.#facts.plan.input.sitemap === 'only' ? [] : page.links
    return [...(await this.#lines(waiting, settled, index)), ...this.#discovery.take(links, waiting.depth + 1)]
  }

  /** Lines for an address that would be visited. */
  async plan(waiting: Waiting, index: number): Promise<JournalEntry[]> {
    const { url, depth } = waiting
    if (this.isVisited(url)) return [skip(url, 'redirect_duplicate')]
    const place = this.#facts.pages.append({ url, depth, page: { metadata: { sourceURL: url } } })
    this.#visit(new URL(url), new URL(url))
    return [{ type: 'crawl.page', data: { index, depth, url }, own: { taken: 1, ...place, final: url } }]
  }

  /** Lines for a page that is rendered after all. */
  async replace(waiting: Waiting, visited: Visited, index: number): Promise<JournalEntry[]> {
    this.#facts.judge.repeated(index)
    if (!visited.ok || visited.page.render !== 'browser' || !visited.kind) {
      const why = visited.ok ? 'it is no page any more' : visited.error
      return [warn(`${waiting.url}: the page may be incomplete: it could not be rendered (${why})`)]
    }
    const facts: JudgedFacts = { ...visited.kind, render: 'browser' }
    return this.#replacing(waiting, { page: visited, facts }, index)
  }

  /** Lines for a page that was settled before, and whose kept form was damaged. */
  async restore(waiting: Waiting, visited: Visited, index: number): Promise<JournalEntry[]> {
    const settled = visited.ok || !visited.blocked ? await this.#judged(waiting, visited) : visited
    if (!('page' in settled)) {
      const message = `the kept page of ${waiting.url} is damaged, and it could not be fetched again (${settled.error})`
      return [{ type: 'crawl.warning', data: { message } }]
    }
    return this.#replacing(waiting, settled, index)
  }

  async #replacing(waiting: Waiting, settled: Settled, index: number): Promise<JournalEntry[]> {
    const line = await this.#pageLine(waiting, settled, index)
    const replacing = { ...line, data: { ...line.data, replaces: true }, own: { ...line.own, taken: 0 } }
    return [replacing as JournalEntry, ...this.#discovery.take(settled.page.links, waiting.depth + 1)]
  }

  /** Lines for addresses of sitemaps. */
  addresses(urls: readonly string[]): JournalEntry[] {
    return this.#discovery.take(urls, 1)
  }

  #scopeFrom(reached: URL): Scope {
    const { input, rules, start } = this.#facts.plan
    return new Scope(input, rules, start, reached)
  }

  /** Where the start page leads decides what belongs to the site. */
  #arrive(reached: URL): void {
    if (this.#started) return
    this.#started = true
    this.#scope = this.#scopeFrom(reached)
    this.#discovery = new Discovery(this.#scope, this.#facts.plan.input.max_depth)
    this.#discovery.know(this.#facts.plan.start)
    this.#discovery.know(reached)
  }

  #visit(asked: URL, reached: URL): void {
    this.#visited.add(this.#scope.identity(asked))
    this.#visited.add(this.#scope.identity(reached))
  }

  async #lines(waiting: Waiting, settled: Settled, index: number): Promise<JournalEntry[]> {
    const { page, facts } = settled
    if (!this.#scope.passes(page.final)) {
      if (facts) this.#facts.judge.learn(facts, undefined)
      return [skip(waiting.url, 'excluded', { visited: waiting.url, final: page.final.href, ...(facts && { facts }) })]
    }
    const line = await this.#pageLine(waiting, settled, index)
    const { warning, warning_code: code } = page.answer
    return code === 'render_failed' ? [line, warn(`${waiting.url}: ${warning}`)] : [line]
  }

  async #pageLine({ url, depth }: Waiting, { page, facts }: Settled, index: number) {
    const { warning, warning_code } = page.answer
    const coded = warning_code && { warning, warning_code }
    const place = this.#facts.pages.append({ url, depth, page: { ...page.answer.data!, ...coded } })
    if (facts) this.#facts.judge.learn(facts, index)
    return {
      type: 'crawl.page' as const,
      data: { index, depth, url, ...(warning && { warning }), ...coded },
      own: { taken: 1, ...place, final: page.final.href, ...(facts && { facts }) },
    }
  }

  /** The page in the form that all pages before it call for; it may have been got before they were settled. */
  async #judged(waiting: Waiting, visited: Visited): Promise<Settled | FailedVisit> {
    if (!visited.ok) return this.#unrendered(waiting, visited)
    const { kind, fetched } = visited
    if (!kind) return { page: visited }
    const { judge, visitor, plan } = this.#facts
    const wanted = judge.mode(kind)
    if (visited.page.render === 'browser') {
      const more =
        fetched && judge.isOpen(kind) && areComparable(fetched, visited.page)
          ? await this.#showsMore(waiting, { fetched, rendered: visited.page, promised: true })
          : undefined
      if (wanted === 'browser' || !fetched)
        return { page: visited, facts: { ...kind, render: 'browser', ...(more !== undefined && { more }) } }
      const page = await visitor.written(plan.page(waiting.url), { page: fetched, kind })
      return { page, facts: { ...kind, render: 'http' } }
    }
    if (wanted === 'browser') return this.#rendered(waiting, visited, kind)
    return this.#audited(waiting, visited, kind)
  }

  /** A page that could not be rendered is kept as it was fetched, with a warning where a browser was needed. */
  async #unrendered(waiting: Waiting, visit: FailedVisit): Promise<Settled | FailedVisit> {
    const { judge, visitor, plan } = this.#facts
    const { fetched } = visit
    if (!fetched) return visit
    const { kind } = fetched
    const scrape = plan.page(waiting.url)
    if (kind && judge.mode(kind) !== 'browser') {
      return { page: await visitor.written(scrape, fetched), facts: { ...kind, render: 'http' } }
    }
    const page = unrendered(fetched.page, { message: visit.error })
    return page ? { page: await visitor.written(scrape, { page }) } : visit
  }

  async #rendered(waiting: Waiting, visited: VisitedPage, kind: PageKind): Promise<Settled | FailedVisit> {
    const rendered = await this.#tryRender(waiting)
    if (rendered instanceof BaxError) {
      // It was fetched because there is no browser: that has been said.
      if (isLackOfBrowser(rendered)) return { page: visited }
      const { message: error, code } = rendered
      return this.#unrendered(waiting, { ok: false, blocked: false, error, code, fetched: { page: visited.page } })
    }
    const page = await this.#facts.visitor.written(this.#facts.plan.page(waiting.url), { page: rendered, kind })
    return { page, facts: { ...kind, render: 'browser' } }
  }

  /** The first page of its kind, and those of the sample, are held against what a browser shows. */
  async #audited(waiting: Waiting, visited: VisitedPage, kind: PageKind): Promise<Settled> {
    const { judge, visitor, plan } = this.#facts
    const rendered = visited.audit ?? (judge.isFirst(kind) ? await this.#tryRender(waiting) : undefined)
    if (
      !rendered ||
      rendered instanceof BaxError ||
      !rendered.rendered?.isPage ||
      !areComparable(visited.page, rendered)
    )
      return { page: visited, facts: { ...kind, render: 'http' } }
    const more = await this.#showsMore(waiting, { fetched: visited.page, rendered, promised: false })
    if (!more) return { page: visited, facts: { ...kind, render: 'http', more, audited: true } }
    const page = await visitor.written(plan.page(waiting.url), { page: rendered, kind })
    return { page, facts: { ...kind, render: 'browser', more, audited: true } }
  }

  #showsMore({ url }: Waiting, { fetched, rendered, promised }: Comparison): Promise<boolean> {
    const { formats, input } = this.#facts.plan.page(url)
    return showsMore(fetched, rendered, {
      onlyMain: input.only_main_content,
      promised,
      allLinks: formats.has('links'),
      isKnown: (address) => this.#discovery.isKnown(address),
    })
  }

  /** The rendered page, or why there is none. */
  async #tryRender({ url }: Waiting): Promise<ObtainedPage | BaxError> {
    try {
      return await this.#facts.visitor.render(this.#facts.plan.page(url), url)
    } catch (error) {
      // What was fetched stands; whoever is to end the crawl ends it elsewhere.
      if (error instanceof BaxError) return error
      throw error
    }
  }
}

const warn = (message: string): JournalEntry => ({ type: 'crawl.warning', data: { message } })

const offHost: FailedVisit = { ok: false, blocked: false, code: 'off_host_redirect', error: 'the page redirects to another host' } // prettier-ignore

function failed({ url, depth }: Waiting, { error, code, status }: FailedVisit): JournalEntry {
  const data: CrawlError = { url, error, code, depth, ...(status !== undefined && { status_code: status }) }
  return { type: 'crawl.error', data, own: { taken: 1 } }
}

const skip = (url: string, reason: 'redirect_duplicate' | 'excluded', own: OwnFacts = {}): JournalEntry => ({
  type: 'crawl.skipped',
  data: { skipped: [{ url, reason }] },
  own: { taken: 1, ...own },
})
