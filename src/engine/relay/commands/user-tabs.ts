/** The tabs of the user's browser as the target of commands: nothing is taken from the user that was not asked for. */
import type { BrowserContext, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { EventLog } from '../../../core/events/events.ts'
import type { BatchTarget } from '../../browser/batch/batch-target.ts'
import { crashError, documentMethod, hasCrashed, watchCrash } from '../../browser/tabs/crash.ts'
import { answerDialogs } from '../../browser/tabs/dialogs.ts'
import { recordPageEvents } from '../../browser/tabs/page-events.ts'
import type { ReloadOutcome, ReloadRequest } from './reload-tab.ts'

export interface UserTabsFacts {
  readonly sessionId: string
  readonly context: BrowserContext
  /** The tab that the user looks at. */
  readonly active: () => string | null
  /** Whether a tab is known to have crashed: one that has before the driver came is unknown to the driver. */
  readonly crashed: (targetId: string) => boolean
  readonly reload: (request: ReloadRequest) => Promise<ReloadOutcome>
  /** Aborted when the browser, or the way to it, is gone. */
  readonly ended: AbortSignal
}

/** A tab that has just opened is known to the browser a little before it is known here. */
const arrivalMs = 2000

export class UserTabs implements BatchTarget {
  readonly sessionId: string
  readonly browserContext: BrowserContext
  readonly events = new EventLog()
  readonly pointer = { x: 0, y: 0 }
  readonly ended: AbortSignal
  readonly responsive = true
  readonly #facts: UserTabsFacts
  readonly #ids = new WeakMap<Page, Promise<string>>()
  #busy = false
  /** The tab that the present batch has named. */
  #wanted: string | undefined
  /** The page that commands went to last. */
  #page: Page | undefined
  /** Reports the crash of the tab with this ID, until the driver is replaced. */
  #crash: { readonly targetId: string; readonly error: Promise<BaxError> } | undefined

  constructor(facts: UserTabsFacts) {
    const { sessionId, context, ended } = facts
    this.sessionId = sessionId
    this.browserContext = context
    this.ended = ended
    this.#facts = facts
    for (const page of context.pages()) watchCrash(page)
    context.on('page', watchCrash)
    recordPageEvents(context, this.events)
    // Dialogs of the user's own are the user's to answer.
    answerDialogs(context, this.events, () => this.#busy)
  }

  get pages(): readonly Page[] {
    return this.browserContext.pages()
  }

  get crashed(): boolean {
    return this.#page !== undefined && hasCrashed(this.#page)
  }

  /** Whether a tab was reloaded after a crash, which needs a new driver: this one knows the crashed page only. */
  get outdated(): boolean {
    return this.#crash !== undefined
  }

  async recover(): Promise<BaxError | undefined> {
    const page = this.#page
    return page && hasCrashed(page) ? this.#reload(await this.#idOf(page), page) : undefined
  }

  /** Runs a batch on the named tab, or on the one that the user looks at. */
  async on<T>(target: string | undefined, work: () => Promise<T>): Promise<T> {
    this.#wanted = target
    this.#busy = true
    try {
      return await work()
    } finally {
      this.#busy = false
      this.#wanted = undefined
    }
  }

  /** The id of the tab that commands go to now. */
  async targetId(): Promise<string> {
    return this.#idOf(await this.page())
  }

  /** @throws BaxError `target_not_found` when the tab is not there, or is not shared. */
  async page(): Promise<Page> {
    this.#page = await this.#current()
    const crash = await this.recover()
    if (crash) throw crash
    return this.#page
  }

  async #current(): Promise<Page> {
    const { active, crashed } = this.#facts
    const wanted = this.#wanted ?? active()
    if (wanted === null) return this.browserContext.newPage()
    const found = await this.#find(wanted)
    if (found) return found
    if (crashed(wanted) || this.#crash?.targetId === wanted) throw await this.#reload(wanted)
    // Not yet told of, or about to close: the next tab to come may be it.
    // Without one, the search below fails.
    await this.browserContext.waitForEvent('page', { timeout: arrivalMs }).catch(() => {})
    const late = await this.#find(this.#wanted ?? active() ?? wanted)
    if (late) return late
    throw new BaxError('target_not_found', `there is no tab ${wanted} to work in`, {
      hint: '`bax relay tabs` lists the tabs that are there',
    })
  }

  upload(): string {
    throw new BaxError('invalid_data', "files of the user's machine are not given to pages through the relay")
  }

  save(): Promise<string> {
    const message = "files are not written on the user's machine; leave path out and take the picture from the result"
    return Promise.reject(new BaxError('invalid_data', message))
  }

  #reload(targetId: string, page?: Page): Promise<BaxError> {
    if (this.#crash?.targetId !== targetId) {
      const method = page && documentMethod(page)
      this.#crash = { targetId, error: this.#facts.reload({ targetId, method }).then(crashError) }
    }
    return this.#crash.error
  }

  async #find(targetId: string): Promise<Page | undefined> {
    for (const page of this.pages) {
      // A page that closes while it is asked is not the one.
      if ((await this.#idOf(page).catch(() => undefined)) === targetId) return page
    }
    return undefined
  }

  #idOf(page: Page): Promise<string> {
    let id = this.#ids.get(page)
    if (!id) {
      id = this.#askId(page)
      this.#ids.set(page, id)
    }
    return id
  }

  async #askId(page: Page): Promise<string> {
    const session = await this.browserContext.newCDPSession(page)
    const { targetInfo } = await session.send('Target.getTargetInfo')
    return targetInfo.targetId
  }
}
