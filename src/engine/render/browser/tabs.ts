/** The tab pool of a rendering browser: tabs are cleaned between pages, and replaced after a number of pages. */
import type { Log } from '../../../core/config/config.ts'
import type { AllowedHosts } from '../../egress/allowed-hosts.ts'
import { renderedAtOnce } from './concurrency.ts'
import type { Upstream } from '../../egress/chain.ts'
import type { Route } from '../../egress/egress.ts'
import type { ReadIdentity } from '../identity/identity.ts'
import type { RenderBrowser } from './render-browser.ts'
import { Tab } from './tab.ts'

interface TabRules {
  /** Hosts that the page may connect to; all when undefined. */
  readonly allowed?: AllowedHosts | undefined
  readonly identity?: ReadIdentity | undefined
  readonly upstream?: Upstream | undefined
}

export class Tabs {
  readonly browser: RenderBrowser
  readonly #log: Log
  readonly #idle: Tab[] = []
  readonly #cleaning = new Set<Promise<void>>()
  /** Number of open tabs: in use, being cleaned or idle. */
  #open = 0
  #closed = false

  constructor(browser: RenderBrowser, log: Log) {
    this.browser = browser
    this.#log = log
  }

  /** Takes a clean tab, which must be released. */
  async take(): Promise<Tab> {
    for (;;) {
      // Prefer the tab that was used last, whose caches are warm.
      const tab = this.#idle.pop()
      if (tab && (await tab.wake())) return tab
      if (tab) await this.#discard(tab)
      // A tab that is being cleaned is available sooner than a new one, and needs no additional memory.
      else if (this.#open >= renderedAtOnce && this.#cleaning.size > 0) await Promise.race(this.#cleaning)
      else if (!tab) return this.#openTab({})
    }
  }

  /** Opens a new tab, which must be released. With rules, it is for one page. */
  async open(rules: TabRules): Promise<Tab> {
    // Idle tabs use as much memory.
    const idle = this.#open >= renderedAtOnce ? this.#idle.shift() : undefined
    if (idle) await this.#discard(idle)
    return this.#openTab(rules)
  }

  /** Cleans the tab in the background and returns it to the pool. */
  release(tab: Tab): void {
    const cleaning = this.#clean(tab)
      .catch((error: Error) => this.#log('warn', 'a tab did not close', { error: error.message }))
      .finally(() => this.#cleaning.delete(cleaning))
    this.#cleaning.add(cleaning)
  }

  /** Closes idle tabs, and those that are released from now on; resolves when earlier ones are cleaned up. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#idle.splice(0).map((tab) => this.#discard(tab)), ...this.#cleaning])
  }

  async #openTab({ allowed, identity, upstream }: TabRules): Promise<Tab> {
    this.#open++
    let route: Route | undefined
    try {
      route = await this.browser.egress.route({ allowed, upstream })
      return await Tab.open(this.browser, { route, isForOne: (allowed ?? identity) !== undefined, identity })
    } catch (error) {
      await route?.close()
      this.#open--
      throw error
    }
  }

  async #clean(tab: Tab): Promise<void> {
    if (tab.isUsable && !this.#closed) await tab.clean()
    if (!tab.isUsable || this.#closed) return this.#discard(tab)
    this.#idle.push(tab)
  }

  #discard(tab: Tab): Promise<void> {
    this.#open--
    return tab.close()
  }
}
