/**
 * The rendering policy of a crawl: decides for each page whether the fetched HTML is enough or a browser is needed.
 *
 * - `render/decide/decide.ts` inspects the HTML of one page and returns a reason to render it, certain or weak.
 * - This file combines the reasons with what earlier pages have shown, for each kind of page (host and template).
 *   Pages with a reason are rendered, except for weak reasons that were wrong three times for the kind. Of the others,
 *   the first page of each kind and a sample are rendered for comparison (an audit). When an audit shows more, all
 *   pages of the kind are rendered from then on, and earlier ones are repeated.
 * - `visit.ts` loads pages ahead of time, with the policy as it is then.
 * - `finish-page.ts` finishes pages in queue order, applies the policy again, corrects what was loaded, and reports the
 *   result here. The same pages therefore give the same decisions whatever the concurrency.
 * - `content-visibility.ts` compares the fetched with the rendered page.
 */
import { hashOf } from '../../core/text/hash.ts'
import { limits } from '../../core/limits/limits.ts'
import { certainReasons, maxWrong, type Reason } from '../render/decide/decide.ts'
import type { RenderingFacts } from './store/journal.ts'

/** Properties that pages of one kind share; see `render/decide/template.ts`. */
export interface PageKind {
  readonly host: string
  readonly template: string
  readonly reason?: Reason
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

export class RenderingPolicy {
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

  /** Returns the reasons that are ignored for some pages of a host. */
  ignoredReasons(host: string): Reason[] {
    return [...(this.#ignoredReasons.get(host) ?? [])]
  }
}

/** Returns whether a page belongs to the sample, which depends on its URL only. */
export const isSampled = (identity: string): boolean => hashOf(identity) % limits.crawl.auditEvery === 0

const keyOf = ({ host, template }: Pick<PageKind, 'host' | 'template'>): string => `${host} ${template}`
