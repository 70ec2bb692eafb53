/** Rendering statistics per host for scrapes: which hosts need a browser, and whose pages only look like it. */
import { evictOldest } from '../../evict-oldest.ts'
import type { ElementNode } from '../../extract/tree.ts'
import { certainReasons, maxWrong, type Reason } from './decide.ts'
import { newTexts } from './difference.ts'

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
