/**
 * Browsers that render pages. Keys do not share a browser: a page that keeps its browser busy, or brings it down, affects
 * only pages of its own key. A browser starts on first use, and ends when it is idle.
 */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { RenderBrowser, RenderKind } from './render-browser.ts'
import { Tabs } from './tabs.ts'

interface Entry {
  readonly kind: RenderKind
  readonly from: Origin
  readonly tabs: Promise<Tabs>
  /** Number of pages that are being rendered. */
  pages: number
  /** Whether it does not respond, or was replaced meanwhile: it gets no new pages. */
  isSidelined: boolean
  retire: NodeJS.Timeout | undefined
}

/** Tabs of a browser, which is kept until it is released. */
export interface UsedBrowser {
  readonly tabs: Promise<Tabs>
  release(): void
}

export interface RenderBrowsersFacts extends Pick<EngineConfig, 'log'> {
  readonly launch: (kind: RenderKind, from: Origin) => Promise<RenderBrowser>
}

export class RenderBrowsers {
  readonly #facts: RenderBrowsersFacts
  /** All browsers, the one that was used last at the end. */
  readonly #entries = new Set<Entry>()
  #closed = false

  constructor(facts: RenderBrowsersFacts) {
    this.#facts = facts
  }

  /** Returns the browser of a key, which starts if necessary. @throws BaxError `shutting_down` */
  use(kind: RenderKind, from: Origin): UsedBrowser {
    if (this.#closed) throw new BaxError('shutting_down', 'the engine is shutting down')
    const entry = this.#find(kind, from) ?? this.#launch(kind, from)
    this.#entries.delete(entry)
    this.#entries.add(entry)
    clearTimeout(entry.retire)
    entry.pages += 1
    let isUsed = true
    const release = () => {
      if (!isUsed) return
      isUsed = false
      entry.pages -= 1
      if (entry.pages > 0 || this.#closed) return
      entry.retire = setTimeout(() => this.#retire(entry), limits.scrape.idleMs).unref()
      this.#limitIdle()
    }
    return { tabs: entry.tabs, release }
  }

  /** Ends all browsers; pages that are being rendered fail. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#entries].map((entry) => this.#end(entry)))
  }

  #find(kind: RenderKind, from: Origin): Entry | undefined {
    return [...this.#entries].find((entry) => entry.kind === kind && entry.from === from && !entry.isSidelined)
  }

  #launch(kind: RenderKind, from: Origin): Entry {
    const { launch, log } = this.#facts
    const launched = launch(kind, from).then((browser) => new Tabs(browser, log))
    const entry: Entry = { kind, from, tabs: launched, pages: 0, isSidelined: false, retire: undefined }
    this.#entries.add(entry)
    launched.then(
      (tabs) => {
        this.#watch(entry, tabs)
        log('info', 'rendering browser started', { kind })
      },
      () => this.#forget(entry),
    )
    return entry
  }

  #watch(entry: Entry, tabs: Tabs): void {
    const { browser } = tabs
    const { log } = this.#facts
    browser.onClose(() => {
      this.#forget(entry)
      // The proxies of its tabs are no longer needed.
      tabs.close().catch((error: Error) => log('warn', 'a tab did not close', { error: error.message }))
      browser.end().catch((error: Error) => this.#reportLeft(error))
    })
    browser.onResponsive((answers) => {
      // Reuse a browser that responds again, unless it was replaced.
      entry.isSidelined = !answers || this.#find(entry.kind, entry.from) !== undefined
    })
  }

  /** Ends those that have been idle longest if there are too many. */
  #limitIdle(): void {
    const idle = [...this.#entries].filter(({ pages }) => pages === 0)
    for (const entry of idle.slice(0, Math.max(0, idle.length - limits.scrape.idleBrowsers))) this.#retire(entry)
  }

  #retire(entry: Entry): void {
    this.#end(entry).catch((error: Error) => this.#reportLeft(error))
  }

  async #end(entry: Entry): Promise<void> {
    this.#forget(entry)
    // A browser that failed to start has already cleaned up.
    const tabs = await entry.tabs.catch(() => undefined)
    await tabs?.browser.end()
    await tabs?.close()
  }

  #forget(entry: Entry): void {
    clearTimeout(entry.retire)
    this.#entries.delete(entry)
  }

  #reportLeft(error: Error): void {
    this.#facts.log('error', 'files of a browser could not be removed', { error: error.message })
  }
}
