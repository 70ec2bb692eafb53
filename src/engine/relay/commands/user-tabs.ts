/** Exposes the tabs of a user's browser as the target of commands; only dialogs of running batches are answered. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContext, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { EventLog } from '../../../core/events/events.ts'
import { openableUrl } from '../../../core/net/urls.ts'
import type { BatchTarget } from '../../browser/ports/batch-target.ts'
import { crashedError, documentMethod, hasCrashed, watchCrash } from '../../browser/tabs/crash.ts'
import type { DownloadWatch } from '../../browser/tabs/download-watch.ts'
import { Dialogs } from '../../browser/tabs/dialogs.ts'
import { tabIdOf } from '../../browser/tabs/tab-ids.ts'
import { recordPageEvents, shownUrl } from '../../browser/tabs/page-events.ts'
import type { CommandCall } from '../../../core/shapes/commands.ts'
import { checkCode, checkCommand } from '../policy.ts'
import type { ExecutorOptions } from './executor.ts'
import { reloadTab } from './reload-tab.ts'

export interface UserTabsFacts extends Omit<ExecutorOptions, 'tools'> {
  readonly context: BrowserContext
  readonly downloads: DownloadWatch
  /** Aborted when the browser, or the connection to it, is lost. */
  readonly ended: AbortSignal
}

/** Time for Playwright to report a tab that the browser has just opened, in milliseconds. */
const newTabMs = 2000
const pollMs = 25

export class UserTabs implements BatchTarget {
  readonly sessionId: string
  readonly browserContext: BrowserContext
  readonly viewport = null
  readonly events = new EventLog()
  readonly downloads: DownloadWatch
  readonly dialogs: Dialogs
  readonly pointer = { x: 0, y: 0 }
  readonly ended: AbortSignal
  readonly responsive = true
  /** A tab was not reported to Playwright, because it did not answer. */
  #withheld = false
  readonly #facts: UserTabsFacts
  readonly #ids = new WeakMap<Page, Promise<string>>()
  #busy = false
  /** Tab named by the current batch. */
  #requested: string | undefined
  /** Target of the latest command. */
  #page: Page | undefined
  /** Crash reported for this tab until Playwright reconnects. */
  #crash: { readonly targetId: string; readonly error: Promise<BaxError> } | undefined

  constructor(facts: UserTabsFacts) {
    const { sessionId, context, downloads, ended } = facts
    this.sessionId = sessionId
    this.browserContext = context
    this.downloads = downloads
    this.ended = ended
    this.#facts = facts
    for (const page of context.pages()) watchCrash(page)
    context.on('page', watchCrash)
    recordPageEvents(context, this.events)
    // Dialogs outside of batches are left to the user, and all of them where nothing may be changed.
    const setting = () => (this.#busy && facts.policy !== 'read-only' ? 'dismiss' : 'leave')
    this.dialogs = new Dialogs({ context, events: this.events, setting, outsider: 'person' })
  }

  get pages(): readonly Page[] {
    return this.browserContext.pages()
  }

  get activePage(): Page | undefined {
    return this.#page
  }

  /** Shows a tab to the user: commands use the tab that the user is viewing. */
  async activate(page: Page): Promise<void> {
    const targetId = await this.#idOf(page)
    const session = await this.browserContext.browser()!.newBrowserCDPSession()
    await session.send('Target.activateTarget', { targetId })
    await session.detach()
    this.#requested = undefined
    this.#page = page
    this.events.emit('tab.activated', { tab_id: tabIdOf(page), url: shownUrl(page.url()) })
  }

  get crashed(): boolean {
    return this.#page !== undefined && hasCrashed(this.#page)
  }

  /**
   * Whether Playwright has to reconnect: it only knows the crashed page of a tab that was reloaded, and no tab that did
   * not answer when it connected.
   */
  get outdated(): boolean {
    return this.#crash !== undefined || this.#withheld
  }

  async recover(): Promise<BaxError | undefined> {
    const page = this.#page
    return page && hasCrashed(page) ? this.#reload(await this.#idOf(page), page) : undefined
  }

  /** Runs a batch on the named tab, or on the one that the user is viewing. */
  async on<T>(target: string | undefined, work: () => Promise<T>): Promise<T> {
    this.#requested = target
    this.#busy = true
    try {
      return await work()
    } finally {
      this.#busy = false
      this.#requested = undefined
    }
  }

  /** Returns the ID of the tab that commands currently target. */
  async targetId(): Promise<string> {
    return this.#idOf(await this.page())
  }

  /** @throws BaxError `target_not_found` when the tab does not exist or is not shared. */
  async page(): Promise<Page> {
    this.#page = await this.#current()
    const crash = await this.recover()
    if (crash) throw crash
    return this.#page
  }

  async #current(): Promise<Page> {
    const { active, tab } = this.#facts
    const targetId = this.#requested ?? active()
    if (targetId === null) return this.browserContext.newPage()
    const found = await this.#find(targetId)
    if (found) return found
    const known = tab?.(targetId)
    if (known?.crashed || this.#crash?.targetId === targetId) throw await this.#reload(targetId)
    if (known?.responsive === false) throw this.#withhold()
    // The tab may not be reported yet, or it is closing and the next one replaces it.
    for (const end = performance.now() + newTabMs; performance.now() < end; await sleep(pollMs)) {
      const opened = await this.#find(this.#requested ?? active() ?? targetId)
      if (opened) return opened
    }
    throw new BaxError('target_not_found', `no tab ${targetId}`, {
      hint: 'run "bax relay tabs" to list the tabs',
    })
  }

  checkAllowed(call: CommandCall): void {
    checkCommand(this.#facts.policy, call.command)
  }

  checkCode(): void {
    checkCode(this.#facts.policy)
  }

  clipboard(): never {
    throw new BaxError('unsupported', "the clipboard of a relayed browser is its user's own", {
      hint: 'use a session of the engine, or type the text with type_text',
    })
  }

  checkUrl(url: string): string {
    return openableUrl(url)
  }

  upload(): never {
    throw new BaxError('unsupported', 'uploads are not supported through the relay')
  }

  save(): Promise<string> {
    const message = "cannot save files on the user's machine; omit path and read the screenshot from the result"
    return Promise.reject(new BaxError('invalid_data', message))
  }

  #withhold(): BaxError {
    this.#withheld = true
    return new BaxError('timeout', 'the tab does not answer', {
      hint: 'a dialog may be open in it, or its script hangs: close the dialog or the tab, or name another one',
    })
  }

  #reload(targetId: string, page?: Page): Promise<BaxError> {
    if (this.#crash?.targetId !== targetId) {
      const method = page && documentMethod(page)
      this.#crash = { targetId, error: reloadTab(this.#facts.open, targetId, method).then(crashedError) }
    }
    return this.#crash.error
  }

  async #find(targetId: string): Promise<Page | undefined> {
    for (const page of this.pages) {
      // The call fails for a page that closes meanwhile.
      if ((await this.#idOf(page).catch(() => undefined)) === targetId) return page
    }
    return undefined
  }

  #idOf(page: Page): Promise<string> {
    let id = this.#ids.get(page)
    if (!id) this.#ids.set(page, (id = this.#fetchId(page)))
    return id
  }

  async #fetchId(page: Page): Promise<string> {
    const session = await this.browserContext.newCDPSession(page)
    return (await session.send('Target.getTargetInfo')).targetInfo.targetId
  }
}
