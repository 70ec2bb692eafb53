/**
 * Finishes visited pages in the order of the queue: into `data`, errors, skipped or blocked, and queues their links.
 * Applies the rendering policy (`decide-rendering.ts`) to pages that were loaded before earlier pages were finished.
 */
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlError } from '../../core/shapes/crawl.ts'
import { isBrowserMissing, withRenderFailure } from '../scrape/load-page.ts'
import type { LoadedPage } from '../scrape/loaded-page.ts'
import { Discovery } from './queue/discovery.ts'
import type { QueuedUrl } from './queue/frontier.ts'
import { type JournalEntry, type JournalLine, type RenderingFacts, type OwnFacts, warning } from './store/journal.ts'
import type { RenderingPolicy, PageKind } from './decide-rendering.ts'
import type { PageFile } from './store/page-file.ts'
import type { CrawlPlan } from './plan.ts'
import { Scope } from './queue/scope.ts'
import { SeenSet } from './queue/url-identity.ts'
import { areComparable, showsMore } from './content-visibility.ts'
import type { FailedVisit, Visited, VisitedPage, Visitor } from './visit.ts'

export interface PageFinisherOptions {
  readonly plan: CrawlPlan
  readonly policy: RenderingPolicy
  readonly visitor: Visitor
  readonly pages: PageFile
}

/** A page as it goes into `data`, with facts for the rendering policy. */
interface FinishedPage {
  readonly page: VisitedPage
  readonly facts?: RenderingFacts
}

export class PageFinisher {
  readonly #facts: PageFinisherOptions
  readonly #visited = new SeenSet()
  /** Changes once the start page has been loaded. */
  scope: Scope
  #discovery: Discovery
  #started = false

  constructor(facts: PageFinisherOptions) {
    this.#facts = facts
    this.scope = this.#scopeFrom(facts.plan.start)
    this.#discovery = new Discovery(this.scope, facts.plan.input.max_depth)
  }

  /** Restores the state after a journal line of an earlier run. */
  replay({ type, data, own }: JournalLine): void {
    if (own?.final !== undefined) this.#setScope(new URL(own.final))
    if (type === 'crawl.found') for (const url of data.urls) this.#discovery.markKnown(new URL(url))
    if (type === 'crawl.skipped') for (const { url } of data.skipped) this.#discovery.markKnown(new URL(url))
    if (type === 'crawl.page') {
      this.#markVisited(new URL(data.url), new URL(own.final))
      if (data.replaces) this.#facts.policy.repeated(data.index)
      if (own.facts) this.#facts.policy.learn(own.facts, data.index)
    }
    if (own?.visited !== undefined) {
      this.#markVisited(new URL(own.visited), new URL(own.final!))
      if (own.facts) this.#facts.policy.learn(own.facts, undefined)
    }
  }

  /** Returns whether the page at this URL was finished, directly or through a redirect. */
  isVisited(url: string): boolean {
    return this.#visited.has(this.scope.identity(new URL(url)))
  }

  /** Returns the journal lines of a queued URL; `index` is the next index in `data`. */
  async finish(waiting: QueuedUrl, visited: Visited, index: number): Promise<JournalEntry[]> {
    const { url } = waiting
    if (this.#started && this.isVisited(url)) return [skip(url, 'redirect_duplicate')]
    if (!visited.ok && visited.blocked)
      return [{ type: 'crawl.robots_blocked', data: { urls: [url] }, own: { taken: 1 } }]
    const finished = await this.#applyPolicy(waiting, visited)
    if (!('page' in finished)) return [failed(waiting, finished)]
    const { page } = finished
    this.#setScope(page.final)
    if (!this.scope.includesHost(page.final)) return [failed(waiting, offHost)]
    if (this.isVisited(page.final.href)) {
      this.#markVisited(new URL(url), page.final)
      return [skip(url, 'redirect_duplicate', { visited: url, final: page.final.href })]
    }
    this.#markVisited(new URL(url), page.final)
    const links = this.#facts.plan.input.sitemap === 'only' ? [] : page.links
    return [...(await this.#lines(waiting, finished, index)), ...this.#discovery.take(links, waiting.depth + 1)]
  }

  /** Returns the journal lines of a URL that a dry run would visit. */
  async plan(waiting: QueuedUrl, index: number): Promise<JournalEntry[]> {
    const { url, depth } = waiting
    if (this.isVisited(url)) return [skip(url, 'redirect_duplicate')]
    const place = this.#facts.pages.append({ url, depth, page: { metadata: { sourceURL: url } } })
    this.#markVisited(new URL(url), new URL(url))
    return [{ type: 'crawl.page', data: { index, depth, url }, own: { taken: 1, ...place, final: url } }]
  }

  /** Returns the journal lines of a page that was repeated in a browser. */
  async replace(waiting: QueuedUrl, visited: Visited, index: number): Promise<JournalEntry[]> {
    this.#facts.policy.repeated(index)
    if (!visited.ok || visited.page.render !== 'browser' || !visited.kind) {
      const reason = visited.ok ? 'it is no longer an HTML page' : visited.error
      return [warning(`${waiting.url}: the page may be incomplete: it could not be rendered (${reason})`)]
    }
    const facts: RenderingFacts = { ...visited.kind, render: 'browser' }
    return this.#replacementLines(waiting, { page: visited, facts }, index)
  }

  /** Returns the journal lines of a page that was fetched again because its stored form is damaged. */
  async restore(waiting: QueuedUrl, visited: Visited, index: number): Promise<JournalEntry[]> {
    const finished = visited.ok || !visited.blocked ? await this.#applyPolicy(waiting, visited) : visited
    if (!('page' in finished)) {
      return [
        warning(`the kept page of ${waiting.url} is damaged, and it could not be fetched again (${finished.error})`),
      ]
    }
    return this.#replacementLines(waiting, finished, index)
  }

  async #replacementLines(waiting: QueuedUrl, finished: FinishedPage, index: number): Promise<JournalEntry[]> {
    const line = await this.#pageLine(waiting, finished, index)
    const replacement = { ...line, data: { ...line.data, replaces: true }, own: { ...line.own, taken: 0 } }
    return [replacement as JournalEntry, ...this.#discovery.take(finished.page.links, waiting.depth + 1)]
  }

  /** Returns the journal lines of URLs from sitemaps. */
  addresses(urls: readonly string[]): JournalEntry[] {
    return this.#discovery.take(urls, 1)
  }

  #scopeFrom(reached: URL): Scope {
    const { input, rules, start } = this.#facts.plan
    return new Scope(input, rules, start, reached)
  }

  /** Sets the scope, which depends on the URL that the start page redirects to. */
  #setScope(reached: URL): void {
    if (this.#started) return
    this.#started = true
    this.scope = this.#scopeFrom(reached)
    this.#discovery = new Discovery(this.scope, this.#facts.plan.input.max_depth)
    this.#discovery.markKnown(this.#facts.plan.start)
    this.#discovery.markKnown(reached)
  }

  #markVisited(requested: URL, reached: URL): void {
    this.#visited.add(this.scope.identity(requested))
    this.#visited.add(this.scope.identity(reached))
  }

  async #lines(waiting: QueuedUrl, finished: FinishedPage, index: number): Promise<JournalEntry[]> {
    const { page, facts } = finished
    if (!this.scope.matchesPath(page.final)) {
      if (facts) this.#facts.policy.learn(facts, undefined)
      return [skip(waiting.url, 'excluded', { visited: waiting.url, final: page.final.href, ...(facts && { facts }) })]
    }
    const line = await this.#pageLine(waiting, finished, index)
    const { warning: text, warning_code: code } = page.answer
    return code === 'render_failed' ? [line, warning(`${waiting.url}: ${text}`)] : [line]
  }

  async #pageLine({ url, depth }: QueuedUrl, { page, facts }: FinishedPage, index: number) {
    const { warning: text, warning_code } = page.answer
    const coded = warning_code && { warning: text, warning_code }
    const place = this.#facts.pages.append({ url, depth, page: { ...page.answer.data!, ...coded } })
    if (facts) this.#facts.policy.learn(facts, index)
    return {
      type: 'crawl.page' as const,
      data: { index, depth, url, ...(text && { warning: text }), ...coded },
      own: { taken: 1, ...place, final: page.final.href, ...(facts && { facts }) },
    }
  }

  /** Applies the current policy to a page, which may have been loaded before earlier pages were finished. */
  async #applyPolicy(waiting: QueuedUrl, visited: Visited): Promise<FinishedPage | FailedVisit> {
    if (!visited.ok) return this.#finishUnrendered(waiting, visited)
    const { kind, fetched } = visited
    if (!kind) return { page: visited }
    const { policy, visitor, plan } = this.#facts
    const mode = policy.mode(kind)
    if (visited.page.render === 'browser') {
      const more =
        fetched && policy.isUnproven(kind) && areComparable(fetched, visited.page)
          ? await this.#showsMore(waiting, [fetched, visited.page], true)
          : undefined
      if (mode === 'browser' || !fetched)
        return { page: visited, facts: { ...kind, render: 'browser', ...(more !== undefined && { more }) } }
      const page = await visitor.write(plan.page(waiting.url), { page: fetched, kind })
      return { page, facts: { ...kind, render: 'http' } }
    }
    if (mode === 'browser') return this.#finishRendered(waiting, visited, kind)
    return this.#finishAudited(waiting, visited, kind)
  }

  /** Keeps a page that could not be rendered as it was fetched, with a warning if a browser was needed. */
  async #finishUnrendered(waiting: QueuedUrl, visit: FailedVisit): Promise<FinishedPage | FailedVisit> {
    const { policy, visitor, plan } = this.#facts
    const { fetched } = visit
    if (!fetched) return visit
    const { kind } = fetched
    const scrape = plan.page(waiting.url)
    if (kind && policy.mode(kind) !== 'browser')
      return { page: await visitor.write(scrape, fetched), facts: { ...kind, render: 'http' } }
    const page = withRenderFailure(fetched.page, { message: visit.error })
    return page ? { page: await visitor.write(scrape, { page }) } : visit
  }

  async #finishRendered(waiting: QueuedUrl, visited: VisitedPage, kind: PageKind): Promise<FinishedPage | FailedVisit> {
    const rendered = await this.#tryRender(waiting)
    if (rendered instanceof BaxError) {
      // The warning about the missing browser is already in the page.
      if (isBrowserMissing(rendered)) return { page: visited }
      const { message: error, code } = rendered
      return this.#finishUnrendered(waiting, {
        ok: false,
        blocked: false,
        error,
        code,
        fetched: { page: visited.page },
      })
    }
    const page = await this.#facts.visitor.write(this.#facts.plan.page(waiting.url), { page: rendered, kind })
    return { page, facts: { ...kind, render: 'browser' } }
  }

  /** Compares the first page of a kind, and those of the sample, with their rendered form. */
  async #finishAudited(waiting: QueuedUrl, visited: VisitedPage, kind: PageKind): Promise<FinishedPage> {
    const { policy, visitor, plan } = this.#facts
    const rendered = visited.audit ?? (policy.isFirst(kind) ? await this.#tryRender(waiting) : undefined)
    if (
      !rendered ||
      rendered instanceof BaxError ||
      !rendered.rendered?.isPage ||
      !areComparable(visited.page, rendered)
    )
      return { page: visited, facts: { ...kind, render: 'http' } }
    const more = await this.#showsMore(waiting, [visited.page, rendered], false)
    if (!more) return { page: visited, facts: { ...kind, render: 'http', more, audited: true } }
    const page = await visitor.write(plan.page(waiting.url), { page: rendered, kind })
    return { page, facts: { ...kind, render: 'browser', more, audited: true } }
  }

  #showsMore({ url }: QueuedUrl, pages: readonly [LoadedPage, LoadedPage], isPromised: boolean): Promise<boolean> {
    const { formats, input } = this.#facts.plan.page(url)
    return showsMore(...pages, {
      onlyMain: input.only_main_content,
      isPromised,
      allLinks: formats.has('links'),
      isKnown: (address) => this.#discovery.isKnown(address),
    })
  }

  /** Renders a page; returns the error if that fails. */
  async #tryRender({ url }: QueuedUrl): Promise<LoadedPage | BaxError> {
    try {
      return await this.#facts.visitor.render(this.#facts.plan.page(url), url)
    } catch (error) {
      if (error instanceof BaxError) return error
      throw error
    }
  }
}

const offHost: FailedVisit = { ok: false, blocked: false, code: 'off_host_redirect', error: 'the page redirects to another host' } // prettier-ignore

function failed({ url, depth }: QueuedUrl, { error, code, status }: FailedVisit): JournalEntry {
  const data: CrawlError = { url, error, code, depth, ...(status !== undefined && { status_code: status }) }
  return { type: 'crawl.error', data, own: { taken: 1 } }
}

const skip = (url: string, reason: 'redirect_duplicate' | 'excluded', own: OwnFacts = {}): JournalEntry => ({
  type: 'crawl.skipped',
  data: { skipped: [{ url, reason }] },
  own: { taken: 1, ...own },
})
