/** Finishes visited pages in the order of the queue: into `data`, errors, skipped or blocked, and queues their links. */
import type { CrawlError, SkipReason } from '../../core/shapes/crawl.ts'
import type { ScrapeData, ScrapeMetadata } from '../../core/shapes/scrape.ts'
import type { ChangeTracking } from '../../core/shapes/jobs/changes.ts'
import { changeOf } from '../changes/change.ts'
import type { Tracked } from '../changes/tracker.ts'
import type { CrawlPolicy } from '../render/decide/fetch-or-render.ts'
import type { PageTrace } from '../extract/main-content/site/outline.ts'
import { present } from '../scrape/documents/document.ts'
import { isPartial } from '../scrape/page-warnings.ts'
import type { EarlierPage, Findings } from './earlier.ts'
import type { FinishedPage, PageDecisions, VisitedPage } from './decide-page.ts'
import { sourcesOf } from './plan.ts'
import type { RunFacts } from './run-facts.ts'
import type { Robots } from './queue/robots.ts'
import { withTerms } from './queue/robots-terms.ts'
import { isRefused } from '../../core/shapes/read/terms.ts'
import { Discovery } from './queue/discovery.ts'
import type { QueuedUrl } from './queue/frontier.ts'
import { Scope } from './queue/scope.ts'
import { SeenSet } from './queue/url-identity.ts'
import { type JournalEntry, type JournalLine, type KeptVersion, type OwnFacts, warning } from './store/journal.ts'
import type { FailedVisit, Visited } from './visit.ts'

export interface PageFinisherOptions extends Pick<RunFacts, 'plan' | 'pages' | 'earlier' | 'record' | 'track'> {
  readonly signal: AbortSignal
  readonly policy: CrawlPolicy
  readonly decisions: PageDecisions
  readonly robots: Robots
}

export class PageFinisher {
  readonly #facts: PageFinisherOptions
  readonly #visited = new SeenSet()
  /** Visited pages whose response does not show their content, such as a 503. */
  readonly #unread = new SeenSet()
  scope!: Scope
  #discovery!: Discovery
  #started = false
  /** Whether every URL of a list has its own page, also if two redirect to the same one. */
  readonly #isList: boolean

  constructor(facts: PageFinisherOptions) {
    this.#facts = facts
    this.#enter(facts.plan.start)
    this.#isList = facts.plan.list !== undefined
  }

  /** Restores the state after a journal line of an earlier run. */
  replay({ type, data, own }: JournalLine): void {
    if (own?.final !== undefined) this.#setScope(new URL(own.final))
    if (type === 'crawl.found') for (const url of data.urls) this.#discovery.markKnown(new URL(url))
    if (type === 'crawl.skipped') for (const { url } of data.skipped) this.#discovery.markKnown(new URL(url))
    if (own?.earlier) this.#markUnread(own.earlier)
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
    return !this.#isList && this.#visited.has(this.scope.identity(new URL(url)))
  }

  /** Returns what is known about the pages of the site; `hasAllLinks` says whether other sources of links were read. */
  findings(hasAllLinks: boolean): Findings {
    const identity = (url: URL) => this.scope.identity(url)
    const isKnown = (url: string) => this.isVisited(url) || this.#discovery.hasFound(new URL(url))
    const isRead = (url: string) => this.isVisited(url) && !this.#unread.has(identity(new URL(url)))
    return { identity, isKnown, isRead, hasAllLinks }
  }

  /** Returns the journal lines of a queued URL; `index` is the next index in `data`. */
  async finish(waiting: QueuedUrl, visited: Visited, index: number): Promise<JournalEntry[]> {
    const { url } = waiting
    if (this.#started && this.isVisited(url)) return [skip(url, 'redirect_duplicate')]
    if (!visited.ok && visited.blocked)
      return this.#unreadLines(waiting, { type: 'crawl.robots_blocked', data: { urls: [url] }, own: { taken: 1 } })
    if (!visited.ok && visited.skipped) return [skip(url, visited.skipped)]
    const finished = await this.#applyPolicy(url, visited)
    if (!('page' in finished)) return this.#unreadLines(waiting, failed(waiting, finished))
    const { page } = finished
    this.#setScope(page.final)
    if (!this.scope.includesHost(page.final)) return this.#unreadLines(waiting, failed(waiting, offHost))
    if (this.isVisited(page.final.href)) {
      this.#markVisited(new URL(url), page.final)
      return [skip(url, 'redirect_duplicate', { visited: url, final: page.final.href })]
    }
    this.#markVisited(new URL(url), page.final)
    const { content_signals } = await this.#metadataOf(page)
    if (isRefused(this.#facts.plan.input.respect_signals, content_signals))
      return [skip(url, 'content_signal', { visited: url, final: page.final.href })]
    const earlier = await this.#unreadVersion(url, page)
    const links = [...page.links, ...(earlier?.links ?? [])]
    return [...(await this.#lines(waiting, finished, index)), ...this.#linkLines(links, waiting.depth + 1)]
  }

  /** Adds to the journal line of a page that could not be read its earlier version, and follows the links of that. */
  async #unreadLines({ url, depth }: QueuedUrl, line: JournalEntry): Promise<JournalEntry[]> {
    const earlier = this.#started ? await this.#facts.earlier?.find(url) : undefined
    if (!earlier) return [line]
    const own = { ...line.own, earlier: this.#keep({ url, depth }, earlier) }
    return [{ ...line, own } as JournalEntry, ...this.#linkLines(earlier.links ?? [], depth + 1)]
  }

  /** Returns the earlier version of a page if the response does not say how the page is now. */
  async #unreadVersion(url: string, { answer }: VisitedPage): Promise<EarlierPage | undefined> {
    const earlier = isUnread({ ...answer.data!, ...answer }) ? await this.#facts.earlier?.find(url) : undefined
    return earlier && !isUnread(earlier.page) ? earlier : undefined
  }

  /** Stores the earlier version of a page for the next crawl. */
  #keep({ url, depth }: QueuedUrl, { page, at, final, links, trace, validators }: EarlierPage): KeptVersion {
    const place = this.#facts.pages.append({ url, depth, page, ...present({ links, trace }) })
    const kept = { url, ts: at, final, ...place, ...present({ validators }) }
    this.#markUnread(kept)
    return kept
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
    return this.#replacementLines(waiting, { page: visited, facts: { ...visited.kind, render: 'browser' } }, index)
  }

  /** Returns the journal lines of a page that was fetched again because its stored form is damaged. */
  async restore(waiting: QueuedUrl, visited: Visited, index: number): Promise<JournalEntry[]> {
    const finished = visited.ok || !visited.blocked ? await this.#applyPolicy(waiting.url, visited) : visited
    if (!('page' in finished)) {
      return [
        warning(`the kept page of ${waiting.url} is damaged, and it could not be fetched again (${finished.error})`),
      ]
    }
    return this.#replacementLines(waiting, finished, index, { restored: true })
  }

  /** Applies the rendering policy as it is when it is the page's turn. */
  #applyPolicy(url: string, visited: Visited): Promise<FinishedPage | FailedVisit> {
    return this.#facts.decisions.finish(url, visited, (address) => this.#discovery.isKnown(address))
  }

  async #replacementLines(
    waiting: QueuedUrl,
    finished: FinishedPage,
    index: number,
    own: Pick<OwnFacts, 'restored'> = {},
  ): Promise<JournalEntry[]> {
    const line = await this.#pageLine(waiting, finished, index)
    const replacement = { ...line, data: { ...line.data, replaces: true }, own: { ...line.own, ...own, taken: 0 } }
    return [replacement as JournalEntry, ...this.#linkLines(finished.page.links, waiting.depth + 1)]
  }

  #linkLines(links: readonly string[], depth: number): JournalEntry[] {
    if (!sourcesOf(this.#facts.plan.input).links) return []
    return this.#discovery.take(links, depth)
  }

  /** Returns whether a URL was found. */
  hasFound(url: string): boolean {
    return this.#discovery.hasFound(new URL(url))
  }

  /** Returns the journal lines of URLs from sitemaps and llms.txt. */
  addresses(urls: readonly string[]): JournalEntry[] {
    return this.#discovery.take(urls, 1)
  }

  /** Returns the change since the earlier crawl, or since the previous scrape with the format changeTracking. */
  async #changeOf(url: string, page: ScrapeData, trace: PageTrace | undefined): Promise<Tracked> {
    const { earlier, plan, record, track, signal } = this.#facts
    if (earlier) return { change: changeSince(await earlier.find(url), page, trace) }
    const { owner, id: run } = record
    return plan.input.dry_run ? {} : track({ plan: plan.page(url), page, owner, run, signal })
  }

  #enter(reached: URL): void {
    const { input, rules, start } = this.#facts.plan
    this.scope = new Scope(input, rules, start, reached)
    this.#discovery = new Discovery(this.scope, input.max_depth)
  }

  /** Sets the scope, which depends on the URL that the start page redirects to. */
  #setScope(reached: URL): void {
    if (this.#started) return
    this.#started = true
    this.#enter(reached)
    this.#discovery.markKnown(this.#facts.plan.start)
    this.#discovery.markKnown(reached)
  }

  #markUnread({ url, final }: KeptVersion): void {
    for (const href of [url, final]) this.#unread.add(this.scope.identity(new URL(href)))
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
    // An error page is rarely the page that was meant, and its links are rarely those of the site.
    const isMissingStart = waiting.depth === 0 && !this.#isList && (page.answer.data!.metadata.status_code ?? 0) >= 400
    return isPartial(code) || isMissingStart ? [line, warning(`${waiting.url}: ${text}`)] : [line]
  }

  /** Returns the metadata of a page with the terms of use of its site. */
  async #metadataOf({ final, answer }: VisitedPage): Promise<ScrapeMetadata> {
    return withTerms(answer.data!.metadata, (await this.#facts.robots.rulesFor(final)).terms)
  }

  async #pageLine({ url, depth }: QueuedUrl, { page, facts }: FinishedPage, index: number) {
    const { validators, trace, answer } = page
    const unread = await this.#unreadVersion(url, page)
    const earlier = unread && this.#keep({ url, depth }, unread)
    const { change, warning: untracked }: Tracked = unread ? {} : await this.#changeOf(url, answer.data!, trace)
    const text = [answer.warning, untracked].filter(Boolean).join('; ')
    const coded = answer.warning_code && { warning: text, warning_code: answer.warning_code }
    const metadata = await this.#metadataOf(page)
    const data = { ...answer.data!, metadata, ...(change && { changeTracking: change }), ...coded }
    const links = this.#isList || this.#facts.plan.input.dry_run ? {} : { links: page.links }
    const place = this.#facts.pages.append({ url, depth, page: data, ...links, ...(trace && { trace }) })
    if (facts) this.#facts.policy.learn(facts, index)
    return {
      type: 'crawl.page' as const,
      data: {
        index,
        depth,
        url,
        ...(change && { change: change.changeStatus }),
        ...(text && { warning: text }),
        ...coded,
      },
      own: {
        taken: 1,
        ...place,
        final: page.final.href,
        ...present({ validators, facts, outline: trace?.outline, earlier }),
      },
    }
  }
}

/** Returns the change of a page. What other pages of the site contain is no change of its main content. */
function changeSince(earlier: EarlierPage | undefined, page: ScrapeData, trace: PageTrace | undefined): ChangeTracking {
  const isSame = trace !== undefined && earlier?.trace?.content === trace.content
  const { markdown } = page
  const known = isSame && markdown !== undefined ? { ...earlier, page: { ...earlier.page, markdown } } : earlier
  return changeOf(page, known)
}

/** Returns whether a response does not say how the page is now; 404 and 410 say that it is gone. */
function isUnread({ metadata, warning_code }: Pick<ScrapeData, 'metadata' | 'warning_code'>): boolean {
  const { status_code: status = 200 } = metadata
  return (status >= 400 && status !== 404 && status !== 410) || isPartial(warning_code)
}

const offHost: FailedVisit = {
  ok: false,
  blocked: false,
  code: 'off_host_redirect',
  error: 'the page redirects to another host',
}

function failed({ url, depth }: QueuedUrl, { error, code, status }: FailedVisit): JournalEntry {
  const data: CrawlError = { url, error, code, depth, ...(status !== undefined && { status_code: status }) }
  return { type: 'crawl.error', data, own: { taken: 1 } }
}

const skip = (url: string, reason: SkipReason, own: OwnFacts = {}): JournalEntry => ({
  type: 'crawl.skipped',
  data: { skipped: [{ url, reason }] },
  own: { taken: 1, ...own },
})
