/** The browsers of this machine by kind, each located once. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { type LocatedBrowser, locateBrowser } from '../install/locate.ts'
import { type BrowserKind, hasWindows, hidesAutomation } from './flags.ts'

export class LocatedBrowsers {
  readonly #config: Pick<EngineConfig, 'browser' | 'cacheDir'>
  readonly #located = new Map<BrowserKind, Promise<LocatedBrowser>>()

  constructor(config: Pick<EngineConfig, 'browser' | 'cacheDir'>) {
    this.#config = config
  }

  /** Locates the browser of a kind once; failures are not cached, since the user may fix them. */
  get(kind: BrowserKind): Promise<LocatedBrowser> {
    let located = this.#located.get(kind)
    if (!located) {
      const { browser, cacheDir } = this.#config
      const need = { headless: !hasWindows(kind), stealth: hidesAutomation(kind) }
      located = locateBrowser(need, { ...(browser !== undefined && { browser }), cacheDir })
      this.#located.set(kind, located)
      located.catch(() => this.#located.delete(kind))
    }
    return located
  }

  /** Locates the browser of a kind again, since it did not start. */
  forget(kind: BrowserKind): void {
    this.#located.delete(kind)
  }
}
