/** One page in a tab, from its address to a document that has settled. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CdpMessage } from '../../browser/pool/upstream.ts'
import { AskedDocument } from './requested-document.ts'
import { answerOf, type DocumentAnswer, isAttachment, isPage } from './document-response.ts'
import { checkRedirects, type Redirect } from '../http/fetch.ts'
import { exceptionText, type Frame, type Requested, type Thrown } from './protocol.ts'
import type { PageReading } from '../page/read.page.ts'
import readScript from '../page/read.page.ts?inline'
import type { SettleLimits } from '../page/activity.page.ts'
import type { SettleCall, SettledPage } from '../page/wait-until-stable.page.ts'
import type { Tab } from './tab.ts'
import { Waiting } from './waiting.ts'

const { scrape } = limits
/** For what may come at once when a script has been stopped. */
const graceMs = 300
/** Requests that hold up no page: checks of images are among them. */
const isUnimportant = ({ type, request: { initialPriority = '' } }: Requested): boolean => type === 'Fetch' && /low$/i.test(initialPriority) // prettier-ignore

const watchedTypes = new Set(['Script', 'XHR', 'Fetch'])

export class Visit {
  readonly redirects: Redirect[] = []
  readonly warnings: string[] = []
  /** Origins that may have stored something. */
  readonly origins = new Set<string>()
  answer: DocumentAnswer | undefined
  readonly #tab: Tab
  readonly #mainFrame: string
  readonly #waiting = new Waiting()
  /** What scripts are loading, and of which type it is; and how many scripts have come. */
  readonly #open = new Map<string, string>()
  #brought = 0
  /** Documents of the main frame that were asked for, that came, and that have loaded. */
  #asked = 0
  #committed = 0
  #loaded = 0
  #world: Promise<number> | undefined
  #stopped = false
  #litters = false
  /** The document that was asked for has come; before, what is heard is of the page before. */
  #begun = false
  #loader: string | undefined
  readonly #document = new AskedDocument()
  #origin: string | undefined

  constructor(tab: Tab, mainFrame: string) {
    this.#tab = tab
    this.#mainFrame = mainFrame
  }

  hear({ method, params = {} }: CdpMessage): void {
    switch (method) {
      case 'Network.requestWillBeSent':
        this.#request(params)
        break
      case 'Network.responseReceived':
        if (params['type'] === 'Document' && params['frameId'] === this.#mainFrame) this.answer = answerOf(params)
        break
      case 'Network.loadingFinished':
      case 'Network.loadingFailed':
        this.#ended(params['requestId'] as string, params['errorText'] as string | undefined)
        break
      case 'Page.frameNavigated':
        this.#navigated(params['frame'] as Frame)
        break
      case 'Page.windowOpen':
        this.#litters = true
        break
      case 'Page.loadEventFired':
        if (this.#begun) this.#loaded = this.#committed
        break
      case 'Inspector.targetCrashed':
        this.#waiting.fail(new BaxError('page_crashed', 'the page crashed its renderer'))
        break
      default:
        return
    }
    this.#waiting.wake()
  }

  /** Opens an address; false when what came is not a page. @throws BaxError with the code of the failed navigation */
  async open(url: string, signal: AbortSignal): Promise<boolean> {
    const go = () => this.#waiting.guard(this.#tab.send('Page.navigate', { url }), signal)
    const first = await go()
    // An interface of this machine came or went, as with every container that starts: no fault of the page's.
    const result = first['errorText'] === 'net::ERR_NETWORK_CHANGED' ? await go() : first
    const failed = result['errorText'] as string | undefined
    if (failed === undefined) return isPage(this.answer)
    if (this.answer && (!isPage(this.answer) || isAttachment(this.answer))) return false
    const error = this.#document.error(this.#tab.browser.egress.failures, failed)
    if (!error) return true
    throw error
  }

  /**
   * Waits until the page, and every page that it leads to by itself, has loaded and settled; for `emptyMs` while it shows
   * no content. Returns the page where it could be read in the same moment.
   */
  async ready(
    signal: AbortSignal,
    deadline: number,
    emptyMs: number = scrape.emptyMs,
  ): Promise<PageReading | undefined> {
    for (;;) {
      await this.#load(signal, deadline - scrape.reserveMs)
      const document = this.#committed
      // Of a page that never finishes loading, some of the time must be left for reading it.
      const left = deadline - scrape.reserveMs / 3 - performance.now()
      const settled = await this.#settle(signal, {
        settleMs: Math.min(scrape.settleMs, left),
        emptyMs: Math.min(emptyMs, deadline - scrape.reserveMs - performance.now()),
      })
      if (this.#asked > this.#committed || this.#committed > document) continue
      const refresh = settled ? settled.refresh : await this.#refresh(signal)
      if (refresh === null) return settled?.page
      const before = this.#committed
      const came = await this.#waiting.until(() => this.#committed > before, refresh + scrape.settleMs, signal)
      if (!came) return undefined
    }
  }

  /** Whether the page shows no text, a spinner or a notice. */
  async isEmpty(signal: AbortSignal): Promise<boolean> {
    return !this.#stopped && (await this.#ask<boolean>('isEmpty()', signal)) === true
  }

  /** Waits until what the last action set off has settled. */
  async settle(signal: AbortSignal): Promise<void> {
    await this.#settle(signal, { settleMs: scrape.settleMs, emptyMs: 0 })
  }

  async #settle(signal: AbortSignal, { settleMs, emptyMs }: SettleLimits): Promise<SettledPage | undefined> {
    const start = performance.now()
    let settled: SettledPage | undefined
    for (let go: SettleCall['go'] = 'first'; !this.#stopped && this.#asked === this.#committed;) {
      const spent = go === 'on' ? 0 : performance.now() - start
      if (spent >= settleMs) break
      const brought = this.#brought
      const call: SettleCall = { settleMs: settleMs - spent, emptyMs: emptyMs - spent, go }
      const answer = await this.#ask<SettledPage>(`settled(${JSON.stringify(call)})`, signal)
      settled = answer ?? undefined
      if (settled?.isLate) {
        go = 'on'
        continue
      }
      // Scripts that come by other means than ours, such as import(), have still to do their work when they have come.
      if (answer === undefined || (this.#open.size === 0 && this.#brought === brought)) break
      settled = undefined
      const areLoaded = () => this.#open.size === 0 || this.#asked > this.#committed
      await this.#waiting.until(areLoaded, start + settleMs - performance.now(), signal)
      go = 'afresh'
    }
    if (this.#asked === this.#committed) return settled?.isLate ? undefined : settled
    await this.#load(signal, performance.now() + limits.command.navigationMs)
    return undefined
  }

  /** Calls a function of the script that was installed in the page; undefined when the page has gone. */
  async #ask<T>(call: string, signal: AbortSignal): Promise<T | null | undefined> {
    const expression = `globalThis[Symbol.for('bax.page')]?.${call} ?? null`
    const work = this.#tab.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    const answer = await this.#responsive(work, signal).catch((error: unknown) => (this.#stopped ? undefined : this.#replaced(error))) // prettier-ignore
    return (answer?.['result'] as { value?: T | null } | undefined)?.value
  }

  /** Runs a function of a bundled page script in a world of its own, out of reach of the page's scripts. */
  async inPage<T>(signal: AbortSignal, script: string, name: string, input?: unknown): Promise<T> {
    const argument = input === undefined ? '' : JSON.stringify(input)
    const expression = `(() => { ;${script}; return __bax_module.${name}(${argument}) })()`
    for (let attempt = 0; ; attempt++) {
      try {
        const contextId = await this.#waiting.guard(this.#ownWorld(), signal)
        return await this.evaluate<T>(expression, signal, contextId)
      } catch (error) {
        // The page was replaced, or a script in the way of the call stopped: it is asked once more.
        if (attempt >= 2 || signal.aborted) throw error
        if ((error as BaxError).code !== 'evaluate_failed' || !this.#stopped) this.#replaced(error)
        this.#world = undefined
      }
    }
  }

  /** Value of an expression; in the page's own world without a context. @throws BaxError `evaluate_failed` */
  async evaluate<T>(expression: string, signal: AbortSignal, contextId?: number): Promise<T> {
    const params = { expression, awaitPromise: true, returnByValue: true, userGesture: true, contextId }
    const work = this.#tab.send('Runtime.evaluate', params)
    const { result, exceptionDetails } = await this.#responsive(work, signal)
    if (exceptionDetails) throw new BaxError('evaluate_failed', exceptionText(exceptionDetails as Thrown))
    return (result as { value: T }).value
  }

  /** Whether the tab cannot be used again: its scripts are off, or there are windows and storage out of its reach. */
  get spent(): boolean {
    return this.#stopped || this.#litters
  }

  send(method: string, params: object, signal: AbortSignal): Promise<Record<string, unknown>> {
    return this.#waiting.guard(this.#tab.send(method, params), signal)
  }

  /** Milliseconds until the page leads elsewhere; null when it does not. */
  async #refresh(signal: AbortSignal): Promise<number | null> {
    return this.#stopped ? null : this.inPage<number | null>(signal, readScript, 'pendingRefresh', scrape.refreshSecs)
  }

  #ownWorld(): Promise<number> {
    this.#world ??= this.#tab
      .send('Page.createIsolatedWorld', { frameId: this.#mainFrame, worldName: 'bax' })
      .then(({ executionContextId }) => executionContextId as number)
    return this.#world
  }

  /** Undefined for the failure of a call whose page has gone, which is no failure; others are thrown again. */
  #replaced(error: unknown): undefined {
    const { message } = error as Error
    if (/context was destroyed|navigated or closed|Cannot find context|uniqueContextId not found|Frame was detached/i.test(message)) return undefined // prettier-ignore
    throw error
  }

  async #load(signal: AbortSignal, deadline: number): Promise<void> {
    const loaded = () => this.#committed === this.#asked && this.#loaded === this.#committed
    for (;;) {
      const left = deadline - performance.now()
      if (await this.#waiting.until(loaded, Math.min(1000, Math.max(left, 0)), signal)) return
      if (left <= 1000) {
        this.warnings.push('the page had not finished loading when it was read')
        return
      }
      // A renderer that answers is only waiting for something.
      await this.#responsive(this.#tab.send('Runtime.evaluate', { expression: '1' }), signal)
    }
  }

  /** The result of a call that needs the page's thread; a script that holds the thread is ended, once. */
  async #responsive<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const patience = scrape.busyMs + (this.#stopped ? 0 : scrape.settleMs)
    if (await this.#waiting.ends(work, patience, signal)) return work
    if (this.#stopped) throw new BaxError('timeout', 'the page is caught in a script')
    this.#stopped = true
    this.warnings.push('a script of the page that did not end was stopped')
    await this.#responsive(
      Promise.all([
        this.#tab.send('Runtime.terminateExecution'),
        this.#tab.send('Emulation.setScriptExecutionDisabled', { value: true }),
      ]),
      signal,
    )
    // What itself was a script, or waits for one, will not come any more.
    if (await this.#waiting.ends(work, graceMs, signal)) return work
    throw new BaxError('evaluate_failed', 'a script that did not end was stopped')
  }

  #request(params: Record<string, unknown>): void {
    const { requestId, type, frameId, loaderId, redirectResponse } = params as unknown as Requested
    if (type === 'Document' && frameId === this.#mainFrame) {
      this.#loader ??= loaderId
      this.#document.asked(params as unknown as Requested)
      if (redirectResponse) this.#redirect(redirectResponse.url, redirectResponse.status)
      else {
        if (this.answer && this.#committed > 0) this.#redirect(this.answer.url, this.answer.status)
        this.#asked++
      }
    } else if (watchedTypes.has(type) && !isUnimportant(params as unknown as Requested)) this.#open.set(requestId, type)
  }

  #ended(requestId: string, failure?: string): void {
    this.#document.ended(requestId, failure)
    if (this.#open.get(requestId) === 'Script') this.#brought++
    this.#open.delete(requestId)
  }

  #redirect(url: string, status: number): void {
    this.redirects.push({ url, status })
    try {
      checkRedirects(this.redirects)
    } catch (error) {
      this.#waiting.fail(error as BaxError)
    }
  }

  #navigated(frame: Frame): void {
    if (/^https?:/.test(frame.securityOrigin)) this.origins.add(frame.securityOrigin)
    if (frame.parentId !== undefined) return
    this.#begun ||= frame.loaderId === this.#loader || frame.unreachableUrl !== undefined
    if (!this.#begun) return
    const error =
      frame.unreachableUrl === undefined ? undefined : this.#document.error(this.#tab.browser.egress.failures)
    if (error) this.#waiting.fail(error)
    // What a tab stores for its session can be cleared on the last page only.
    if (this.#origin !== undefined && this.#origin !== frame.securityOrigin) this.#litters = true
    this.#origin = frame.securityOrigin
    this.#committed = Math.max(this.#asked, this.#committed)
    this.#open.clear()
    this.#world = undefined
  }
}
