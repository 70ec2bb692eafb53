/**
 * Which pages are taken as they were fetched, and which are rendered, decided page after page in the order of the
 * crawl: the same pages give the same decisions whatever the concurrency.
 *
 * A page whose markup gives a reason is rendered; a weak reason that proved wrong three times on pages made alike is
 * no longer followed. Of the others the first of each kind and a sample are rendered too: where that shows more, all
 * pages of the kind are rendered from then on, and those that were done before are done again.
 */
import { hashOf } from '../../core/text/hash.ts'
import { limits } from '../../core/limits/limits.ts'
import { certainReasons, type Reason } from '../render/decide/decide.ts'
import type { JudgedFacts } from './store/journal.ts'

/** What pages of one kind have in common; see `template.ts`. */
export interface PageKind {
  readonly host: string
  readonly template: string
  readonly reason?: Reason
}

/** How often a reason must have been wrong before it is no longer followed. */
const enough = 3

interface KindState {
  /** All of its pages are rendered. */
  browser: boolean
  audited: boolean
  /** How often each reason was wrong; 0 for good once it was right. */
  readonly vain: Map<string, number>
  /** Places in `data` of pages that were taken as fetched. */
  readonly fetched: Set<number>
}

export class Judge {
  readonly #kinds = new Map<string, KindState>()
  /** Kinds that an audit sent to the browser. */
  readonly #switched = new Set<KindState>()
  readonly #auditedOf = new Map<string, number>()
  readonly #vainOf = new Map<string, Set<Reason>>()

  /** How a page is to be had, after all pages before it. */
  mode(kind: PageKind): 'http' | 'browser' {
    const state = this.#kinds.get(keyOf(kind))
    if (state?.browser) return 'browser'
    return kind.reason !== undefined && !this.#isVain(kind) ? 'browser' : 'http'
  }

  /** Whether it is still open if the reason is worth following: fetched and rendered page are to be compared. */
  isOpen({ reason, ...kind }: PageKind): boolean {
    if (reason === undefined || certainReasons.has(reason)) return false
    const state = this.#kinds.get(keyOf(kind))
    if (state?.browser) return false
    const vain = state?.vain.get(reason)
    return vain === undefined || (vain > 0 && vain < enough)
  }

  /** Whether a page that was taken as fetched is the first of its kind. */
  isFirst(kind: PageKind): boolean {
    if (this.#kinds.get(keyOf(kind))?.audited) return false
    return (this.#auditedOf.get(kind.host) ?? 0) < limits.crawl.auditedTemplates
  }

  /** Takes note of a page that was settled; `index` is its place in `data`, undefined when it has none. */
  learn({ host, template, reason, render, more, audited }: JudgedFacts, index: number | undefined): void {
    const key = keyOf({ host, template })
    let state = this.#kinds.get(key)
    if (!state) this.#kinds.set(key, (state = { browser: false, audited: false, vain: new Map(), fetched: new Set() }))
    if (audited) {
      if (!state.audited) this.#auditedOf.set(host, (this.#auditedOf.get(host) ?? 0) + 1)
      state.audited = true
      if (more) {
        state.browser = true
        this.#switched.add(state)
      }
    } else if (reason !== undefined && more !== undefined && this.isOpen({ host, template, reason })) {
      const times = more ? 0 : (state.vain.get(reason) ?? 0) + 1
      state.vain.set(reason, times)
      if (times >= enough) this.#vainOf.set(host, (this.#vainOf.get(host) ?? new Set()).add(reason))
    }
    if (index === undefined) return
    if (render === 'http') state.fetched.add(index)
    else state.fetched.delete(index)
  }

  /** Places in `data` of pages that were taken as fetched and are to be rendered after all. */
  toRepeat(): number[] {
    return [...this.#switched].flatMap(({ fetched }) => [...fetched]).sort((a, b) => a - b)
  }

  /** The page at this place of `data` has been done again, or cannot be. */
  repeated(index: number): void {
    for (const { fetched } of this.#switched) fetched.delete(index)
  }

  /** Reasons that are no longer followed for some pages of a host. */
  vainReasons(host: string): Reason[] {
    return [...(this.#vainOf.get(host) ?? [])]
  }

  #isVain({ reason, ...kind }: PageKind): boolean {
    return (this.#kinds.get(keyOf(kind))?.vain.get(reason!) ?? 0) >= enough
  }
}

/** Whether a page belongs to the sample, by nothing but its address. */
export const isSampled = (identity: string): boolean => hashOf(identity) % limits.crawl.auditEvery === 0

const keyOf = ({ host, template }: Pick<PageKind, 'host' | 'template'>): string => `${host} ${template}`
