/** One tab of a rendering browser: opens a page, tells what becomes of it, and is cleaned for the next. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { CdpMessage } from '../../browser/pool/upstream.ts'
import type { RenderBrowser } from './render-browser.ts'
import type { SettleOptions } from '../page/wait-until-stable.page.ts'
import settleScript from '../page/wait-until-stable.page.ts?inline'
import { Visit } from './visit.ts'

/** All that a page can store beside cookies, which go by themselves; `all` has the browser search its other caches too. */
const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers,file_systems,shared_storage,interest_groups' // prettier-ignore

/** A page that has been read stays in its tab for so long, in case another is opened there. */
const restMs = 200

export class Tab {
  readonly browser: RenderBrowser
  readonly #contextId: string
  readonly #targetId: string
  readonly #sessionId: string
  #visit: Visit | undefined
  #blocked = ''
  #visits = 0
  #broken = false
  /** A page that has been read is still in the tab, sealed. */
  #occupied = false
  #rest: NodeJS.Timeout | undefined
  #leaving: Promise<void> | undefined

  private constructor(browser: RenderBrowser, contextId: string, targetId: string, sessionId: string) {
    this.browser = browser
    this.#contextId = contextId
    this.#targetId = targetId
    this.#sessionId = sessionId
    browser.listen(sessionId, (message) => this.#hear(message))
    browser.listen(targetId, (message) => this.#hear(message))
  }

  static async open(browser: RenderBrowser): Promise<Tab> {
    const { browserContextId } = await browser.send('Target.createBrowserContext', { disposeOnDetach: true })
    const contextId = browserContextId as string
    const [{ targetId }] = await Promise.all([
      browser.send('Target.createTarget', {
        url: 'about:blank',
        browserContextId: contextId,
        ...limits.session.viewport,
        ...(browser.unpainted && { enableBeginFrameControl: true }),
      }),
      browser.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId: contextId }),
    ])
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true })
    const tab = new Tab(browser, contextId, targetId as string, sessionId as string)
    await tab.#prepare()
    return tab
  }

  async #prepare(): Promise<void> {
    const { kind, unpainted, userAgent } = this.browser
    const options: SettleOptions = {
      unpainted,
      hasImages: kind === 'painted',
      refreshSecs: limits.scrape.refreshSecs,
    }
    const source = `(() => { ;${settleScript}; __bax_module.install(${JSON.stringify(options)}) })()`
    await Promise.all([
      this.send('Page.enable'),
      this.send('Network.enable', { maxTotalBufferSize: 4 * limits.scrape.bodyBytes, maxResourceBufferSize: 2 * limits.scrape.bodyBytes }), // prettier-ignore
      this.send('Inspector.enable'),
      this.send('Page.addScriptToEvaluateOnNewDocument', { source }),
      this.send('Network.setBypassServiceWorker', { bypass: true }),
      this.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: 'en-US,en;q=0.9' }),
      this.send('Emulation.setDeviceMetricsOverride', { ...limits.session.viewport, deviceScaleFactor: 1, mobile: false }), // prettier-ignore
      this.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
    ])
  }

  /** Whether the tab can be used again: it works, and has not gathered too much yet. */
  get sound(): boolean {
    return !this.#broken && !this.browser.gone && this.#visits < limits.scrape.pagesPerTab
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.browser.send(method, params, this.#sessionId)
  }

  /** Takes the tab out of its rest; false when it cannot be used again. */
  async wake(): Promise<boolean> {
    clearTimeout(this.#rest)
    await this.#leaving
    return this.sound
  }

  /** Begins a visit; what the tab hears goes to it until the next one. */
  async visit(url: string, blocked: readonly string[]): Promise<Visit> {
    const patterns = blocked.join('\n')
    if (patterns !== this.#blocked) {
      await this.send('Network.setBlockedURLs', { urls: blocked })
      this.#blocked = patterns
    }
    // To a browser another fragment of the same address is the same page.
    if (this.#occupied && url.includes('#')) await this.#leaveInTime()
    if (!this.sound) throw new BaxError('page_crashed', 'the tab did not leave its last page')
    this.#occupied = false
    this.#visits++
    this.#visit = new Visit(this, this.#targetId)
    return this.#visit
  }

  /**
   * Leaves nothing of a visit behind: no cookies, no storage, and a page that does nothing more. A tab that cannot be
   * cleaned is broken.
   */
  async clean(): Promise<void> {
    const visit = this.#visit
    this.#visit = undefined
    if (visit?.spent) this.#broken = true
    if (this.#broken || !visit) return
    try {
      await withDeadline(this.#wipe(visit), { ms: limits.pool.closeMs })
    } catch {
      // Whatever holds it up goes with the tab.
      this.#broken = true
      return
    }
    // A page that is not followed by another soon is not kept.
    this.#rest = setTimeout(() => (this.#leaving = this.#leaveInTime()), restMs).unref()
  }

  /** A page is ended where it stands: going to an empty one would cost a third of the next visit. */
  async #wipe({ origins }: Visit): Promise<void> {
    this.#occupied = true
    const seal = `globalThis[Symbol.for('bax.page')]?.seal()`
    const { result } = await this.send('Runtime.evaluate', { expression: seal, returnByValue: true })
    if ((result as { value?: boolean } | undefined)?.value !== true) await this.#leave()
    const collect = this.#visits % limits.scrape.collectEvery === 0
    await Promise.all([
      this.browser.send('Storage.clearCookies', { browserContextId: this.#contextId }),
      ...[...origins].map((origin) => this.send('Storage.clearDataForOrigin', { origin, storageTypes })),
      ...(collect ? [this.send('HeapProfiler.collectGarbage')] : []),
    ])
  }

  async #leaveInTime(): Promise<void> {
    try {
      await withDeadline(this.#leave(), { ms: limits.pool.closeMs })
    } catch {
      this.#broken = true
    }
  }

  async #leave(): Promise<void> {
    const { errorText } = await this.send('Page.navigate', { url: 'about:blank' })
    if (errorText !== undefined) throw new BaxError('page_crashed', String(errorText))
    this.#occupied = false
  }

  async close(): Promise<void> {
    this.#broken = true
    clearTimeout(this.#rest)
    this.browser.listen(this.#sessionId, undefined)
    this.browser.listen(this.#targetId, undefined)
    if (this.browser.gone) return
    // Ends the renderer too, whatever its scripts are doing.
    await this.browser
      .send('Target.disposeBrowserContext', { browserContextId: this.#contextId })
      .catch((error: BaxError) => {
        if (!/Failed to find context/.test(error.message) && error.code !== 'worker_lost') throw error
      })
  }

  #hear(message: CdpMessage): void {
    const { method, params = {} } = message
    if (method === 'Inspector.targetCrashed' || method === 'Target.targetCrashed') this.#broken = true
    if (method === 'Page.javascriptDialogOpening') {
      // An answer that comes too late finds the dialog gone with its page.
      this.send('Page.handleJavaScriptDialog', { accept: params['type'] === 'beforeunload' }).catch(() => {})
    }
    this.#visit?.hear(message)
  }
}
