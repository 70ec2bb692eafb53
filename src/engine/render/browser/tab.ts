/** A tab of a rendering browser, which is cleaned between pages and reused. */
import { setTimeout as sleep } from 'node:timers/promises'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { CdpMessage } from '../../browser/cdp/upstream.ts'
import { protocolText } from '../../cdp/protocol-errors.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { Route } from '../../egress/egress.ts'
import type { Failures } from '../../egress/failures.ts'
import type { RenderBrowser } from './render-browser.ts'
import type { StableOptions } from '../page/wait-until-stable.page.ts'
import stableScript from '../page/wait-until-stable.page.ts?inline'
import type { ReadIdentity } from '../identity/identity.ts'
import { IdentityTab } from './identity-tab.ts'
import { Visit } from './visit.ts'

/** All storage of a page except cookies, which are cleared separately. `all` would be slower: it includes caches. */
const storageTypes = 'local_storage,indexeddb,cache_storage,service_workers,file_systems,shared_storage,interest_groups'

/** Time for which a finished page stays in its tab, in case another one is opened there, in milliseconds. */
const idleMs = 200

/** Time for a crash to be reported, in milliseconds. */
const crashMs = 200

interface TabFacts {
  /** The tab's own proxy, which closes with the tab. */
  readonly route: Route
  /** Whether the tab is for one page, which has an identity or may connect to some hosts only. */
  readonly isForOne: boolean
  readonly identity?: ReadIdentity | undefined
}

export class Tab {
  readonly browser: RenderBrowser
  readonly #contextId: string
  readonly #targetId: string
  readonly #sessionId: string
  readonly #facts: TabFacts
  #identity: IdentityTab | undefined
  #visit: Visit | undefined
  #blocked = ''
  #visits = 0
  #broken = false
  /** Why the page is lost: the browser does not answer pending and later calls then. */
  #lost: BaxError | undefined
  readonly #waiting = new Set<(error: BaxError) => void>()
  /** Whether the sealed previous page is still in the tab. */
  #occupied = false
  #idleTimer: NodeJS.Timeout | undefined
  #navigatingAway: Promise<void> | undefined

  private constructor(browser: RenderBrowser, contextId: string, targetId: string, sessionId: string, facts: TabFacts) {
    this.browser = browser
    this.#contextId = contextId
    this.#targetId = targetId
    this.#sessionId = sessionId
    this.#facts = facts
    browser.listen(sessionId, (message) => this.#onMessage(message))
    browser.listen(targetId, (message) => this.#onMessage(message))
  }

  static async open(browser: RenderBrowser, facts: TabFacts): Promise<Tab> {
    const { browserContextId } = await browser.send('Target.createBrowserContext', {
      disposeOnDetach: true,
      proxyServer: facts.route.proxy.server,
      proxyBypassList: '<-loopback>',
    })
    const contextId = browserContextId as string
    try {
      return await Tab.#openIn(contextId, browser, facts)
    } catch (error) {
      // The first error is the one to report.
      await dispose(browser, contextId).catch(() => {})
      throw error
    }
  }

  static async #openIn(contextId: string, browser: RenderBrowser, facts: TabFacts): Promise<Tab> {
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
    const tab = new Tab(browser, contextId, targetId as string, sessionId as string, facts)
    await tab.#prepare()
    if (facts.identity) tab.#identity = await IdentityTab.open(tab, contextId, facts.identity)
    return tab
  }

  async #prepare(): Promise<void> {
    const { kind, unpainted, userAgent } = this.browser
    const options: StableOptions = { unpainted, hasImages: kind === 'painted' }
    const source = `(() => { ;${stableScript}; __bax_module.install(${JSON.stringify(options)}) })()`
    await Promise.all([
      this.send('Page.enable'),
      this.send('Network.enable', {
        maxTotalBufferSize: 4 * limits.scrape.bodyBytes,
        maxResourceBufferSize: 2 * limits.scrape.bodyBytes,
      }),
      this.send('Inspector.enable'),
      this.send('Page.addScriptToEvaluateOnNewDocument', { source }),
      this.send('Network.setBypassServiceWorker', { bypass: true }),
      this.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: 'en-US,en;q=0.9' }),
      this.send('Emulation.setDeviceMetricsOverride', {
        ...limits.session.viewport,
        deviceScaleFactor: 1,
        mobile: false,
      }),
      this.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
    ])
  }

  /** Whether the tab works and has not yet reached its maximum number of pages. */
  get isUsable(): boolean {
    const most = this.#facts.isForOne ? 1 : limits.scrape.pagesPerTab
    return !this.#broken && !this.browser.isClosed && this.#visits < most
  }

  /** Why connections of the tab failed. */
  get failures(): Failures {
    return this.#facts.route.failures
  }

  /** @throws BaxError `page_crashed` or `target_closed` when the page is lost before it answers. */
  async send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    if (this.#lost) throw this.#lost
    let onLost!: (error: BaxError) => void
    const lost = new Promise<never>((_, reject) => (onLost = reject))
    this.#waiting.add(onLost)
    try {
      return await Promise.race([lost, this.browser.send(method, params, this.#sessionId)])
    } catch (error) {
      // A crash is reported after the call that fails because of it.
      if ((error as BaxError).code === 'action_failed') await sleep(crashMs)
      throw this.#lost ?? error
    } finally {
      this.#waiting.delete(onLost)
    }
  }

  /** Prepares an idle tab for use; resolves with false if it cannot be reused. */
  async wake(): Promise<boolean> {
    clearTimeout(this.#idleTimer)
    await this.#navigatingAway
    return this.isUsable
  }

  /** Starts a visit of a key, which receives the events of the tab until the next one. */
  async visit(url: string, { blocked, from }: { blocked: readonly string[]; from: Origin }): Promise<Visit> {
    this.#facts.route.belongTo(from)
    const patterns = blocked.join('\n')
    if (patterns !== this.#blocked) {
      await this.send('Network.setBlockedURLs', { urls: blocked })
      this.#blocked = patterns
    }
    // Navigating to another fragment of the same URL would not load a new page.
    if (this.#occupied && url.includes('#')) await this.#inTime(this.#navigateAway())
    if (!this.isUsable) throw new BaxError('page_crashed', 'the tab did not leave its last page')
    this.#occupied = false
    this.#visits++
    this.#visit = new Visit(this, this.#targetId)
    return this.#visit
  }

  /** Takes over the cookies that a page has changed, before the tab is released; returns a warning if it fails. */
  async leave(): Promise<string | undefined> {
    if (!this.#identity) return undefined
    try {
      await withDeadline(this.#identity.learn(), { ms: limits.identity.leaveMs })
      return undefined
    } catch (error) {
      return `cookies that the page has changed were not kept: ${asBaxError(error).message}`
    }
  }

  /** Clears cookies, storage and running scripts of a visit. A tab that cannot be cleaned counts as broken. */
  async clean(): Promise<void> {
    const visit = this.#visit
    this.#visit = undefined
    if (visit?.spent) this.#broken = true
    if (this.#broken || !visit) return
    await this.#inTime(this.#clear(visit))
    if (this.#broken) return
    // Navigate away from the page if no other follows soon.
    this.#idleTimer = setTimeout(() => (this.#navigatingAway = this.#inTime(this.#navigateAway())), idleMs).unref()
  }

  /** Stops the page in place: navigating to a blank page would cost a third of the next visit. */
  async #clear({ origins }: Visit): Promise<void> {
    this.#occupied = true
    const seal = `globalThis[Symbol.for('bax.page')]?.seal()`
    const { result } = await this.send('Runtime.evaluate', { expression: seal, returnByValue: true })
    if ((result as { value?: boolean } | undefined)?.value !== true) await this.#navigateAway()
    const collect = this.#visits % limits.scrape.collectEvery === 0
    await Promise.all([
      this.browser.send('Storage.clearCookies', { browserContextId: this.#contextId }),
      ...[...origins].map((origin) => this.send('Storage.clearDataForOrigin', { origin, storageTypes })),
      ...(collect ? [this.send('HeapProfiler.collectGarbage')] : []),
    ])
  }

  /** Waits for work; a tab in which it fails or takes too long counts as broken. */
  async #inTime(work: Promise<void>): Promise<void> {
    try {
      await withDeadline(work, { ms: limits.pool.closeMs })
    } catch {
      this.#broken = true
    }
  }

  async #navigateAway(): Promise<void> {
    const { errorText } = await this.send('Page.navigate', { url: 'about:blank' })
    if (errorText !== undefined) throw new BaxError('page_crashed', String(errorText))
    this.#occupied = false
  }

  async close(): Promise<void> {
    try {
      await this.#dispose()
    } finally {
      await this.#facts.route.close()
    }
  }

  async #dispose(): Promise<void> {
    this.#broken = true
    clearTimeout(this.#idleTimer)
    this.browser.listen(this.#sessionId, undefined)
    this.browser.listen(this.#targetId, undefined)
    await dispose(this.browser, this.#contextId)
  }

  #onMessage(message: CdpMessage): void {
    const { method, params = {} } = message
    if (method === 'Inspector.targetCrashed') this.#lose(crashOf(this.browser.sharing?.memoryExcess()))
    if (method === 'Target.detachedFromTarget') this.#lose(new BaxError('target_closed', 'the page was closed'))
    if (method === 'Page.javascriptDialogOpening') {
      // A late response fails because the dialog is gone with its page.
      this.send('Page.handleJavaScriptDialog', { accept: params['type'] === 'beforeunload' }).catch(() => {})
    }
    this.#identity?.onMessage(message)
    this.#visit?.onMessage(message)
  }

  #lose(error: BaxError): void {
    this.#broken = true
    this.#lost ??= error
    this.#visit?.fail(this.#lost)
    for (const onLost of this.#waiting) onLost(this.#lost)
  }
}

/** Closes a context with its page; this also ends the renderer, even while its scripts run. */
async function dispose(browser: RenderBrowser, browserContextId: string): Promise<void> {
  if (browser.isClosed) return
  await browser.send('Target.disposeBrowserContext', { browserContextId }).catch((error: BaxError) => {
    if (!/Failed to find context/.test(protocolText(error)) && error.code !== 'worker_lost') throw error
  })
}

/** Builds the error that reports a crash, with its cause if known. */
const crashOf = (cause: string | undefined): BaxError =>
  new BaxError('page_crashed', cause === undefined ? 'the page crashed its renderer' : `the page was ended: ${cause}`)
