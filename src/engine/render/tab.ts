/** One tab of a rendering browser: opens a page, tells what becomes of it, and is cleaned for the next. */
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { CdpMessage } from '../browser/upstream.ts'
import { inTime } from '../browser/in-time.ts'
import type { RenderBrowser } from './render-browser.ts'
import settleScript from './settle.page.ts?inline'
import { Visit } from './visit.ts'

export class Tab {
  readonly browser: RenderBrowser
  readonly #contextId: string
  readonly #targetId: string
  readonly #sessionId: string
  #visit: Visit | undefined
  #blocked = ''
  #visits = 0
  #broken = false

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
    const { unpainted, userAgent } = this.browser
    const source = `(() => { ;${settleScript}; __bax_module.install(${JSON.stringify({ unpainted })}) })()`
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

  /** Whether the tab can be used again. */
  get sound(): boolean {
    return !this.#broken && !this.browser.gone
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.browser.send(method, params, this.#sessionId)
  }

  /** Begins a visit; what the tab hears goes to it until the next one. */
  async visit(blocked: readonly string[]): Promise<Visit> {
    const patterns = blocked.join('\n')
    if (patterns !== this.#blocked) {
      await this.send('Network.setBlockedURLs', { urls: blocked })
      this.#blocked = patterns
    }
    this.#visit = new Visit(this, this.#targetId)
    return this.#visit
  }

  /** Leaves nothing of a visit behind: no page, no cookies, no storage. A tab that cannot be cleaned is broken. */
  async clean(): Promise<void> {
    const { origins = new Set<string>(), stopped = false } = this.#visit ?? {}
    this.#visit = undefined
    this.#visits++
    // Its scripts stay switched off.
    if (stopped) this.#broken = true
    if (this.#broken) return
    try {
      await inTime(this.#wipe([...origins]), limits.pool.closeMs, 'the tab could not be cleaned')
    } catch {
      // Whatever holds it up goes with the tab.
      this.#broken = true
    }
  }

  async #wipe(origins: readonly string[]): Promise<void> {
    const { errorText } = await this.send('Page.navigate', { url: 'about:blank' })
    if (errorText !== undefined) throw new BaxError('page_crashed', String(errorText))
    const collect = this.#visits % limits.scrape.collectEvery === 0
    await Promise.all([
      this.browser.send('Storage.clearCookies', { browserContextId: this.#contextId }),
      ...origins.map((origin) => this.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })),
      ...(collect ? [this.send('HeapProfiler.collectGarbage')] : []),
    ])
  }

  async close(): Promise<void> {
    this.#broken = true
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
