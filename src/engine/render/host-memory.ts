/** What is learnt about hosts while an engine runs: who needs a browser, and whose markup only looks like it. */
import type { Reason } from './decide.ts'

/** Reasons that markup states outright; they are never unlearnt. */
const certain: ReadonlySet<Reason> = new Set(['shell', 'template'])
/** How often a reason must have been wrong before it is no longer followed. */
const enough = 3
const mostHosts = 10_000

interface HostFacts {
  /** Pages on which rendering brought content that the HTML did not have. */
  rendered: number
  /** Pages that were complete without it. */
  complete: number
  readonly vain: Map<Reason, number>
}

export class HostMemory {
  readonly #hosts = new Map<string, HostFacts>()

  /** Whether pages of the host go to the browser at once: every page so far did. */
  wantsBrowser(url: string): boolean {
    const facts = this.#hosts.get(hostOf(url))
    return facts !== undefined && facts.rendered >= 2 && facts.complete === 0
  }

  /** Whether the reason has never once been right on this host. */
  isVain(url: string, reason: Reason): boolean {
    const facts = this.#hosts.get(hostOf(url))
    return facts !== undefined && !certain.has(reason) && (facts.vain.get(reason) ?? 0) >= enough
  }

  /** A page that was complete as fetched. */
  complete(url: string): void {
    this.#facts(url).complete++
  }

  /** What rendering changed on a page that had a reason for it. */
  rendered(url: string, reason: Reason, before: number, after: number): void {
    const facts = this.#facts(url)
    if (after > before * 1.05 + 20) {
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
      facts = { rendered: 0, complete: 0, vain: new Map() }
      this.#hosts.set(host, facts)
    }
    return facts
  }
}

const hostOf = (url: string): string => new URL(url).host
