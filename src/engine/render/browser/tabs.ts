/** The tabs of one rendering browser: lent to one page after the other, cleaned in between, and replaced when worn. */
import type { Log } from '../../../core/config/config.ts'
import { renderedAtOnce } from './at-once.ts'
import type { RenderBrowser } from './render-browser.ts'
import { Tab } from './tab.ts'

export class Tabs {
  readonly browser: RenderBrowser
  readonly #log: Log
  readonly #idle: Tab[] = []
  readonly #cleaning = new Set<Promise<void>>()
  /** All that are open: lent, being cleaned or idle. */
  #open = 0
  #closed = false

  constructor(browser: RenderBrowser, log: Log) {
    this.browser = browser
    this.#log = log
  }

  /** A tab in which nothing is left of other pages; it is to be given back. */
  async take(): Promise<Tab> {
    for (;;) {
      // The one that was used last is still warm.
      const tab = this.#idle.pop()
      if (tab && (await tab.wake())) return tab
      if (tab) await this.#discard(tab)
      // One that is being cleaned is there sooner than a new one, and does not add to the memory of all.
      else if (this.#open >= renderedAtOnce && this.#cleaning.size > 0) await Promise.race(this.#cleaning)
      else if (!tab) return this.#make()
    }
  }

  /** Cleaning is nobody's waiting time; the tab is there again afterwards. */
  giveBack(tab: Tab): void {
    const cleaning = this.#clean(tab)
      .catch((error: Error) => this.#log('warn', 'a tab did not close', { error: error.message }))
      .finally(() => this.#cleaning.delete(cleaning))
    this.#cleaning.add(cleaning)
  }

  /** What is given back from now on is closed; settles when everything that was has been. */
  async close(): Promise<void> {
    this.#closed = true
    this.#idle.length = 0
    await Promise.all(this.#cleaning)
  }

  async #make(): Promise<Tab> {
    this.#open++
    try {
      return await Tab.open(this.browser)
    } catch (error) {
      this.#open--
      throw error
    }
  }

  async #clean(tab: Tab): Promise<void> {
    if (tab.sound && !this.#closed) await tab.clean()
    if (!tab.sound || this.#closed) return this.#discard(tab)
    this.#idle.push(tab)
  }

  #discard(tab: Tab): Promise<void> {
    this.#open--
    return tab.close()
  }
}
