/**
 * Decides whether a page is only fetched over HTTP or rendered in a browser.
 *
 * 1. The request decides (`requestedMode`): `render`, or formats and options that need a browser.
 * 2. Otherwise the page is fetched, and its HTML may give a reason to render it (`page-reason.ts`), certain or weak.
 *    Weak reasons are ignored once they were wrong three times: for scrapes per host (`HostMemory`), for crawls per
 *    kind of page, that is host and template (`CrawlPolicy`).
 * 3. Scrapes render all pages of a host without a fetch if every page so far needed it.
 * 4. Crawls also check pages without a reason: the first page of each kind and a sample are rendered for comparison (an
 *    audit, see `difference.ts`). When an audit shows more, all pages of the kind are rendered from then on, and
 *    earlier ones are repeated.
 *
 * `scrape/load-page.ts`, `crawl/pages/local-pages.ts` and `crawl/decide-page.ts` load pages accordingly.
 */
import { limits } from '../../../core/limits/limits.ts'
import type { ScrapeInput } from '../../../core/shapes/scrape.ts'
import { hashOf } from '../../../core/text/hash.ts'
import { evictOldest } from '../../evict-oldest.ts'
import type { ElementNode } from '../../extract/tree.ts'
import { newTexts } from './difference.ts'
import type { Reason } from './page-reason.ts'

/** Returns how the request wants its page to be loaded; undefined if that depends on the page. */
export function requestedMode({
  input,
  browserOnly,
}: {
  readonly input: Pick<ScrapeInput, 'render'>
  readonly browserOnly: boolean
}): 'http' | 'browser' | undefined {
  if (browserOnly) return 'browser'
  return input.render === 'auto' ? undefined : input.render
}

/** Certain reasons, which are never ignored. */
const certainReasons: ReadonlySet<Reason> = new Set(['shell', 'blank', 'template'])

/** Number of times that a weak reason must be wrong before it is ignored. */
const maxWrong = 3

/** Interval of the sample: every tenth page with an ignored reason is still rendered. */
const sampleEvery = 10
/** Number of added characters to ignore, such as a clock or a counter. */
const ignoredChars = 4
const maxHosts = 10_000
/** Maximum number of texts per host added by scripts to remember. */
const maxTexts = 500

interface HostFacts {
  /** Number of pages on which rendering added content. */
  rendered: number
  /** Number of pages that were complete without rendering. */
  complete: number
  readonly wrong: Map<Reason, number>
  /** Texts that rendering added to a page: on other pages, these are a banner or a menu. */
  readonly added: Set<string>
}

/** Rendering statistics per host for scrapes: which hosts need a browser, and whose pages only look like it. */
export class HostMemory {
  readonly #hosts = new Map<string, HostFacts>()

  /** Returns whether pages of the host are rendered without a fetch, because every page so far needed it. */
  needsBrowser(url: string): boolean {
    const facts = this.#hosts.get(hostOf(url))
    return facts !== undefined && facts.rendered >= 2 && facts.complete === 0
  }

  /** Returns whether to ignore the reason, which was wrong on the last pages of this host. Samples return false. */
  isIgnored(url: string, reason: Reason): boolean {
    const facts = this.#hosts.get(hostOf(url))
    const count = facts?.wrong.get(reason) ?? 0
    if (!facts || certainReasons.has(reason) || count < maxWrong) return false
    facts.wrong.set(reason, count + 1)
    return (count - maxWrong + 1) % sampleEvery !== 0
  }

  /** Returns the reasons that are ignored for this host, except for samples. */
  ignoredReasons(url: string): Reason[] {
    const wrong = this.#hosts.get(hostOf(url))?.wrong ?? new Map<Reason, number>()
    return [...wrong].flatMap(([reason, count]) => (count >= maxWrong && !certainReasons.has(reason) ? [reason] : []))
  }

  recordComplete(url: string): void {
    this.#facts(url).complete++
  }

  /** Records a page that was rendered for a reason, as fetched and as rendered. */
  recordRendered(url: string, reason: Reason, before: ElementNode, after: ElementNode): void {
    const facts = this.#facts(url)
    const added = newTexts(before, after).filter((text) => !facts.added.has(text))
    for (const text of added) if (facts.added.size < maxTexts) facts.added.add(text)
    if (added.reduce((sum, { length }) => sum + length, 0) > ignoredChars) {
      facts.rendered++
      facts.wrong.delete(reason)
      return
    }
    facts.complete++
    facts.wrong.set(reason, (facts.wrong.get(reason) ?? 0) + 1)
  }

  #facts(url: string): HostFacts {
    const host = hostOf(url)
    let facts = this.#hosts.get(host)
    if (!facts) {
      evictOldest(this.#hosts, maxHosts - 1)
      facts = { rendered: 0, complete: 0, wrong: new Map(), added: new Set() }
      this.#hosts.set(host, facts)
    }
    return facts
  }
}

const hostOf = (url: string): string => new URL(url).host

/** Properties that pages of one kind share; see `template.ts`. */
export interface PageKind {
  readonly host: string
  readonly template: string
  readonly reason?: Reason
}

/** How a page of a crawl was loaded, and why. */
export interface RenderingFacts extends PageKind {
  readonly render: 'http' | 'browser'
  /** Whether the browser showed more than was fetched, if both were compared. */
  readonly more?: boolean
  /** Both were compared although the page gave no reason to. */
  readonly audited?: true
}

interface KindState {
  /** Render all pages of the kind. */
  browser: boolean
  audited: boolean
  /** How often each weak reason was wrong; stays 0 once it was right. */
  readonly wrong: Map<string, number>
  /** Indexes in `data` of pages that were kept as fetched. */
  readonly fetched: Set<number>
}

/** Rendering policy for the pages of one host, as plain data: enough to load a page, and to correct it later. */
export interface PolicyHints {
  /** Kinds that differ from unknown ones; `wrong` counts how often each weak reason was wrong. */
  readonly kinds: readonly (Pick<KindState, 'browser' | 'audited'> & {
    readonly template: string
    readonly wrong: readonly (readonly [string, number])[]
  })[]
  readonly audited: number
  readonly ignored: readonly Reason[]
}

/** The policy of one crawl. Pages are finished in queue order, so that it is the same whatever the concurrency. */
export class CrawlPolicy {
  readonly #kinds = new Map<string, KindState>()
  /** Kinds that are rendered because of an audit. */
  readonly #switched = new Set<KindState>()
  readonly #auditedOf = new Map<string, number>()
  readonly #ignoredReasons = new Map<string, Set<Reason>>()

  /** Returns how to load a page, given all earlier pages. */
  mode(kind: PageKind): 'http' | 'browser' {
    const state = this.#kinds.get(keyOf(kind))
    if (state?.browser) return 'browser'
    return kind.reason !== undefined && (state?.wrong.get(kind.reason) ?? 0) < maxWrong ? 'browser' : 'http'
  }

  /** Returns whether the reason is still unproven, so that the fetched and the rendered page have to be compared. */
  isUnproven({ reason, ...kind }: PageKind): boolean {
    if (reason === undefined || certainReasons.has(reason)) return false
    const state = this.#kinds.get(keyOf(kind))
    if (state?.browser) return false
    const wrong = state?.wrong.get(reason)
    return wrong === undefined || (wrong > 0 && wrong < maxWrong)
  }

  /** Returns whether a fetched page is the first of its kind and has to be audited. */
  isFirst(kind: PageKind): boolean {
    if (this.#kinds.get(keyOf(kind))?.audited) return false
    return (this.#auditedOf.get(kind.host) ?? 0) < limits.crawl.auditedTemplates
  }

  /** Records the outcome of a page; `index` is its index in `data`, undefined if it is not in there. */
  learn({ host, template, reason, render, more, audited }: RenderingFacts, index: number | undefined): void {
    const key = keyOf({ host, template })
    let state = this.#kinds.get(key)
    if (!state) this.#kinds.set(key, (state = { browser: false, audited: false, wrong: new Map(), fetched: new Set() }))
    if (audited) {
      if (!state.audited) this.#auditedOf.set(host, (this.#auditedOf.get(host) ?? 0) + 1)
      state.audited = true
      if (more) {
        state.browser = true
        this.#switched.add(state)
      }
    } else if (reason !== undefined && more !== undefined && this.isUnproven({ host, template, reason })) {
      const count = more ? 0 : (state.wrong.get(reason) ?? 0) + 1
      state.wrong.set(reason, count)
      if (count >= maxWrong) this.#ignoredReasons.set(host, (this.#ignoredReasons.get(host) ?? new Set()).add(reason))
    }
    if (index === undefined) return
    if (render === 'http') state.fetched.add(index)
    else state.fetched.delete(index)
  }

  /** Returns the indexes in `data` of fetched pages that have to be rendered now. */
  toRepeat(): number[] {
    return [...this.#switched].flatMap(({ fetched }) => [...fetched]).sort((a, b) => a - b)
  }

  /** Records that the page at this index was rendered, or could not be. */
  repeated(index: number): void {
    for (const { fetched } of this.#switched) fetched.delete(index)
  }

  /** Returns a policy from the hints about one host. */
  static of(host: string, { kinds, audited, ignored }: PolicyHints): CrawlPolicy {
    const policy = new CrawlPolicy()
    for (const { template, wrong, ...state } of kinds)
      policy.#kinds.set(keyOf({ host, template }), { ...state, wrong: new Map(wrong), fetched: new Set() })
    policy.#auditedOf.set(host, audited)
    policy.#ignoredReasons.set(host, new Set(ignored))
    return policy
  }

  /** Returns hints for loading a page of a host on another machine. */
  hintsFor(host: string): PolicyHints {
    const prefix = keyOf({ host, template: '' })
    const kinds = [...this.#kinds]
      .filter(([key]) => key.startsWith(prefix))
      // Reasons that were wrong once or twice are treated like unknown ones.
      .map(([key, { browser, audited, wrong }]) => ({
        template: key.slice(prefix.length),
        browser,
        audited,
        wrong: [...wrong].filter(([, count]) => count === 0 || count >= maxWrong),
      }))
      .filter(({ browser, audited, wrong }) => browser || audited || wrong.length > 0)
    return { kinds, audited: this.#auditedOf.get(host) ?? 0, ignored: this.ignoredReasons(host) }
  }

  /** Returns the reasons that are ignored for some pages of a host. */
  ignoredReasons(host: string): Reason[] {
    return [...(this.#ignoredReasons.get(host) ?? [])]
  }
}

/** Returns whether a page belongs to the sample, which depends on its URL only. */
export const isSampled = (identity: string): boolean => hashOf(identity) % limits.crawl.auditEvery === 0

const keyOf = ({ host, template }: Pick<PageKind, 'host' | 'template'>): string => `${host} ${template}`
