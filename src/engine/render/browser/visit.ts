/** The visit of one page in a tab, from navigation until its content is stable. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CdpMessage } from '../../browser/cdp/upstream.ts'
import { protocolText } from '../../cdp/protocol-errors.ts'
import {
  exceptionText,
  type Frame,
  type RequestWillBeSent,
  type ExceptionDetails,
  isAttachment,
  isPage,
  isWatched,
} from './document.ts'
import { checkRedirects } from '../http/fetch.ts'
import { leadsToFile } from '../http/web-url.ts'
import type { StableLimits } from '../page/activity.page.ts'
import type { StableCall, StablePage } from '../page/wait-until-stable.page.ts'
import { Navigations, type ScheduledNavigation } from './navigations.ts'
import type { Tab } from './tab.ts'
import { PageConditions } from './page-conditions.ts'
import { ignoreReplaced } from './replaced.ts'
import { readingReserve } from '../reading-reserve.ts'

const { scrape } = limits
/** Time for results to arrive after a script was stopped, in milliseconds. */
const graceMs = 300

const lostWarning = 'the response is incomplete: the connection was lost'

export class Visit {
  readonly navigations: Navigations
  /** Origins that may have stored something. */
  readonly origins = new Set<string>()
  readonly #warnings: string[] = []
  readonly #tab: Tab
  readonly #mainFrame: string
  readonly #waiting = new PageConditions()
  /** Pending requests of scripts, with their types; and the number of scripts loaded. */
  readonly #pending = new Map<string, string>()
  #scriptsLoaded = 0
  #world: Promise<number> | undefined
  #stopped = false
  #leavesState = false
  #origin: string | undefined

  constructor(tab: Tab, mainFrame: string) {
    this.#tab = tab
    this.#mainFrame = mainFrame
    this.navigations = new Navigations(mainFrame)
  }

  onMessage({ method, params = {} }: CdpMessage): void {
    const frameId = params['frameId'] as string
    if (method === 'Network.requestWillBeSent') this.#request(params as RequestWillBeSent)
    else if (method === 'Network.responseReceived') this.navigations.responded(params)
    else if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed')
      this.#requestEnded(params['requestId'] as string, params['errorText'] as string | undefined)
    else if (method === 'Page.frameNavigated') this.#navigated(params['frame'] as Frame)
    else if (method === 'Page.frameScheduledNavigation') this.navigations.scheduled(params as ScheduledNavigation)
    else if (method === 'Page.frameClearedScheduledNavigation') this.navigations.cleared(frameId)
    else if (method === 'Page.windowOpen') this.#leavesState = true
    else if (method === 'Page.loadEventFired') this.navigations.loaded()
    else if (method === 'Page.frameStoppedLoading') this.navigations.stopped(frameId)
    else return
    this.#waiting.wake()
  }

  /** Ends all current and later waits with an error. */
  fail(error: BaxError): void {
    this.#waiting.fail(error)
  }

  /** Opens a URL; resolves with false if it is not a page. @throws BaxError with the code of the failed navigation */
  async open(url: string, signal: AbortSignal): Promise<boolean> {
    const navigate = () => this.#waiting.guard(this.#tab.send('Page.navigate', { url }), signal)
    const first = await navigate()
    // Retry when a network interface of this machine appeared or vanished, as when containers start.
    const result = first['errorText'] === 'net::ERR_NETWORK_CHANGED' ? await navigate() : first
    const failed = result['errorText'] as string | undefined
    const { response, document } = this.navigations
    if (failed === undefined) return isPage(response)
    if (response && (!isPage(response) || isAttachment(response))) return false
    const error = document.error(this.#tab.failures, failed)
    if (!error) return true
    throw error
  }

  /**
   * Waits until the page, and every page that it redirects to, has loaded and is stable; for up to `emptyMs` while it
   * shows no content. Returns the page if it could be read at that moment.
   */
  async untilReady(signal: AbortSignal, deadline: number, emptyMs: number = scrape.emptyMs) {
    const reserve = readingReserve(deadline - performance.now())
    for (;;) {
      await this.#load(signal, deadline - reserve)
      const { shown } = this.navigations
      const stable = await this.#untilStable(signal, {
        settleMs: Math.min(scrape.settleMs, deadline - reserve / 3 - performance.now()),
        emptyMs: Math.min(emptyMs, deadline - reserve - performance.now()),
      })
      if (this.navigations.isLeaving || this.navigations.shown > shown) continue
      const { refresh } = this.navigations
      if (!refresh) return stable?.page
      // Chromium begins the navigation, or cancels it, at the latest when the script of the page is done.
      const isOver = () => this.navigations.isLeaving || this.navigations.refresh !== refresh
      if (await this.#waiting.until(isOver, deadline - reserve - performance.now(), signal)) continue
      this.#warnings.push(`the page was read before it redirected to ${refresh.url}`)
      return undefined
    }
  }

  /** Warnings for the caller: what is missing in the page, and files that it has started to download. */
  get warnings(): readonly string[] {
    const { document, download } = this.navigations
    return [
      ...this.#warnings,
      ...(document.isCut ? [lostWarning] : []),
      ...(download === undefined ? [] : [leadsToFile(download)]),
    ]
  }

  warn(warning: string): void {
    this.#warnings.push(warning)
  }

  /** Returns whether the page shows no text, a spinner or a notice. */
  async isEmpty(signal: AbortSignal): Promise<boolean> {
    return !this.#stopped && (await this.#callPage<boolean>('isEmpty()', signal)) === true
  }

  /** Waits until the page is stable after an action. */
  async waitUntilStable(signal: AbortSignal): Promise<void> {
    await this.#untilStable(signal, { settleMs: scrape.settleMs, emptyMs: 0 })
  }

  async #untilStable(signal: AbortSignal, { settleMs, emptyMs }: StableLimits): Promise<StablePage | undefined> {
    const start = performance.now()
    let stable: StablePage | undefined
    for (let phase: StableCall['phase'] = 'first'; !this.#stopped && !this.navigations.isLeaving;) {
      const spent = phase === 'continue' ? 0 : performance.now() - start
      if (spent >= settleMs) break
      const scriptsLoaded = this.#scriptsLoaded
      const call: StableCall = { settleMs: settleMs - spent, emptyMs: emptyMs - spent, phase }
      const answer = await this.#callPage<StablePage>(`waitUntilStable(${JSON.stringify(call)})`, signal)
      stable = answer ?? undefined
      if (stable?.isIncomplete && !this.navigations.refresh) {
        phase = 'continue'
        continue
      }
      // Scripts loaded by other means, such as import(), still have to run after they have loaded.
      if (answer === undefined || (this.#pending.size === 0 && this.#scriptsLoaded === scriptsLoaded)) break
      stable = undefined
      const areLoaded = () => this.#pending.size === 0 || this.navigations.isLeaving
      await this.#waiting.until(areLoaded, start + settleMs - performance.now(), signal)
      phase = 'changed'
    }
    if (!this.navigations.isLeaving) return stable?.isIncomplete ? undefined : stable
    await this.#load(signal, performance.now() + limits.command.navigationMs)
    return undefined
  }

  /** Calls a function of the page script; returns undefined if the page was replaced, null without the script. */
  async #callPage<T>(call: string, signal: AbortSignal): Promise<T | null | undefined> {
    const expression = `globalThis[Symbol.for('bax.page')]?.${call} ?? null`
    const work = this.#tab.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    const ignored = (error: unknown) => (this.#stopped ? undefined : ignoreReplaced(error))
    const answer = await this.#awaitResponsive(work, signal).catch(ignored)
    return (answer?.['result'] as { value?: T | null } | undefined)?.value
  }

  /** Runs a function of a bundled page script in an isolated world, which scripts of the page cannot access. */
  async inPage<T>(signal: AbortSignal, script: string, name: string, input?: unknown): Promise<T> {
    const argument = input === undefined ? '' : JSON.stringify(input)
    const expression = `(() => { ;${script}; return __bax_module.${name}(${argument}) })()`
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.evaluate<T>(expression, signal, await this.#waiting.guard(this.#ownWorld(), signal))
      } catch (error) {
        // Retry if the page was replaced, or if a script that blocked the call was stopped.
        if (attempt >= 2 || signal.aborted) throw error
        if ((error as BaxError).code !== 'evaluate_failed' || !this.#stopped) ignoreReplaced(error)
        this.#world = undefined
      }
    }
  }

  /** Evaluates an expression, in the main world unless `contextId` is given. @throws BaxError `evaluate_failed` */
  async evaluate<T>(expression: string, signal: AbortSignal, contextId?: number): Promise<T> {
    const params = { expression, awaitPromise: true, returnByValue: true, userGesture: true, contextId }
    const work = this.#tab.send('Runtime.evaluate', params)
    const answer = contextId === undefined ? this.#awaitScript(work, signal) : this.#awaitResponsive(work, signal)
    const { result, exceptionDetails } = await answer
    if (exceptionDetails) throw new BaxError('evaluate_failed', exceptionText(exceptionDetails as ExceptionDetails))
    return (result as { value: T }).value
  }

  /** Whether the page has been shown, so that its scripts may have run. */
  get isShown(): boolean {
    return this.navigations.shown > 0
  }

  /** Whether the tab cannot be reused: scripts are disabled, or windows or storage remain that cannot be cleared. */
  get spent(): boolean {
    return this.#stopped || this.#leavesState
  }

  send(method: string, params: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    return this.#waiting.guard(this.#tab.send(method, params), signal)
  }

  #ownWorld(): Promise<number> {
    const world = { frameId: this.#mainFrame, worldName: 'bax' }
    const idOf = (answer: Record<string, unknown>) => answer['executionContextId'] as number
    return (this.#world ??= this.#tab.send('Page.createIsolatedWorld', world).then(idOf))
  }

  async #load(signal: AbortSignal, deadline: number): Promise<void> {
    const done = () => this.navigations.isLoaded
    for (;;) {
      const left = deadline - performance.now()
      if (await this.#waiting.until(done, Math.min(1000, Math.max(left, 0)), signal)) return
      if (left <= 1000) return void this.#warnings.push('the page had not finished loading when it was read')
      await this.#stopBlocking(signal)
    }
  }

  /** Awaits a script of the caller, which may wait for something, such as a request, without blocking the thread. */
  async #awaitScript<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      if (await this.#waiting.settlesWithin(work, 1000, signal)) return work
      await this.#stopBlocking(signal).catch((error: unknown) => ignoreReplaced(error))
      // A promise whose script was stopped is never settled.
      if (this.#stopped) return this.#awaitStopped(work, signal)
    }
  }

  /** Stops a script that blocks the main thread; a renderer that responds is not blocked. */
  async #stopBlocking(signal: AbortSignal): Promise<void> {
    await this.#awaitResponsive(this.#tab.send('Runtime.evaluate', { expression: '1' }), signal)
  }

  /** Awaits a call that needs the main thread of the page; a script that blocks the thread is stopped, once. */
  async #awaitResponsive<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const limitMs = scrape.busyMs + (this.#stopped ? 0 : scrape.settleMs)
    if (await this.#waiting.settlesWithin(work, limitMs, signal)) return work
    if (this.#stopped) throw new BaxError('timeout', 'the page is blocked by a script')
    this.#stopped = true
    this.#warnings.push('a script that blocked the page was stopped')
    const ended = this.#tab.send('Runtime.terminateExecution')
    const disabled = this.#tab.send('Emulation.setScriptExecutionDisabled', { value: true })
    await this.#awaitResponsive(Promise.all([ended, disabled]), signal)
    return this.#awaitStopped(work, signal)
  }

  /** Awaits a call after a script was stopped: calls that ran it or waited for it will never finish. */
  async #awaitStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const stopped = new BaxError('evaluate_failed', 'a script that blocked the page was stopped')
    if (!(await this.#waiting.settlesWithin(work, graceMs, signal))) throw stopped
    // Chromium answers the call whose script it has ended with this error.
    const reasonOf = (error: unknown) => (protocolText(error).endsWith('Internal error') ? stopped : error)
    return work.catch((error: unknown) => Promise.reject(reasonOf(error)))
  }

  #request(event: RequestWillBeSent): void {
    if (this.navigations.requested(event)) {
      try {
        checkRedirects(this.navigations.redirects)
      } catch (error) {
        this.#waiting.fail(error as BaxError)
      }
    } else if (isWatched(event)) this.#pending.set(event.requestId, event.type)
  }

  #requestEnded(requestId: string, failure?: string): void {
    this.navigations.ended(requestId, failure)
    if (this.#pending.get(requestId) === 'Script') this.#scriptsLoaded++
    this.#pending.delete(requestId)
  }

  #navigated(frame: Frame): void {
    if (/^https?:/.test(frame.securityOrigin)) this.origins.add(frame.securityOrigin)
    if (!this.navigations.committed(frame)) return
    const error = frame.unreachableUrl === undefined ? undefined : this.navigations.document.error(this.#tab.failures)
    if (error) this.#waiting.fail(error)
    // Session storage can be cleared for the last origin only.
    if (this.#origin !== undefined && this.#origin !== frame.securityOrigin) this.#leavesState = true
    this.#origin = frame.securityOrigin
    this.#pending.clear()
    this.#world = undefined
  }
}
