/** What is learnt about hosts while an engine runs: who needs a browser, and whose markup only looks like it. */
import type { ElementNode } from '../../extract/tree.ts'
import { certainReasons, type Reason } from './decide.ts'
import { newTexts } from './difference.ts'

/** How often in a row a reason must have been wrong before it is no longer followed. */
const enough = 3
/** Of the pages with such a reason, one in so many is rendered all the same. */
const audited = 10
/** Characters that a browser may add without any use: a clock, a counter. */
const trifle = 4
const mostHosts = 10_000
/** Texts remembered of a host that scripts put on its pages. */
const mostTexts = 500

interface HostFacts {
  /** Pages on which rendering brought content that the HTML did not have. */
  rendered: number
  /** Pages that were complete without it. */
  complete: number
  readonly vain: Map<Reason, number>
  /** What rendering added to one page; on others it is a banner or a menu, not their content. */
  readonly added: Set<string>
}

export class HostMemory {
  readonly #hosts = new Map<string, HostFacts>()

  /** Whether pages of the host go to the browser at once: every page so far did. */
  wantsBrowser(url: string): boolean {
    const facts = this.#hosts.get(hostOf(url))
    return facts !== undefined && facts.rendered >= 2 && facts.complete === 0
  }

  /** Whether the reason was wrong on all the last pages of this host; now and then it is followed nevertheless. */
  isVain(url: string, reason: Reason): boolean {
    const facts = this.#hosts.get(hostOf(url))
    const times = facts?.vain.get(reason) ?? 0
    if (!facts || certainReasons.has(reason) || times < enough) return false
    facts.vain.set(reason, times + 1)
    return (times - enough + 1) % audited !== 0
  }

  /** A page that was complete as fetched. */
  complete(url: string): void {
    this.#facts(url).complete++
  }

  /** A page that had a reason for rendering, as it was sent and as the browser shows it. */
  rendered(url: string, reason: Reason, before: ElementNode, after: ElementNode): void {
    const facts = this.#facts(url)
    const fresh = newTexts(before, after).filter((text) => !facts.added.has(text))
    for (const text of fresh) if (facts.added.size < mostTexts) facts.added.add(text)
    if (fresh.reduce((sum, { length }) => sum + length, 0) > trifle) {
      facts.rendered++
      facts.vain.delete(reason)
      return
    }
    facts.complete++
    facts.vain.set(reason, (facts.vain.get(reason) ?? 0) + 1)
  }

  #facts(url: string): HostFacts {
    const host = hostOf(url)
    let facts = this.#hosts.get(host)
    if (!facts) {
      if (this.#hosts.size >= mostHosts) this.#hosts.delete(this.#hosts.keys().next().value!)
      facts = { rendered: 0, complete: 0, vain: new Map(), added: new Set() }
      this.#hosts.set(host, facts)
    }
    return facts
  }
}

const hostOf = (url: string): string => new URL(url).host
