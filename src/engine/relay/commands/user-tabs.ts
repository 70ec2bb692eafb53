/** The tabs of the user's browser as the target of commands: nothing is taken from the user that was not asked for. */
import type { BrowserContext, Page } from 'playwright'
import { BaxError } from '../../../core/errors.ts'
import { EventLog } from '../../../core/events.ts'
import type { BatchTarget } from '../../browser/batch-target.ts'
import { answerDialogs } from '../../browser/dialogs.ts'
import { recordPageEvents } from '../../browser/page-events.ts'

export interface UserTabsFacts {
  readonly sessionId: string
  readonly context: BrowserContext
  /** The tab that the user looks at. */
  readonly active: () => string | null
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
  readonly #active: () => string | null
  readonly #ids = new WeakMap<Page, Promise<string>>()
  #busy = false
  /** The tab that the present batch has named. */
  #wanted: string | undefined

  constructor({ sessionId, context, active, ended }: UserTabsFacts) {
    this.sessionId = sessionId
    this.browserContext = context
    this.ended = ended
    this.#active = active
    recordPageEvents(context, this.events)
    // Dialogs of the user's own are the user's to answer.
    answerDialogs(context, this.events, () => this.#busy)
  }

  get pages(): readonly Page[] {
    return this.browserContext.pages()
  }

  get crashed(): boolean {
    return false
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
    const wanted = this.#wanted ?? this.#active()
    if (wanted === null) return this.browserContext.newPage()
    const found = await this.#find(wanted)
    if (found) return found
    // Not yet told of, or about to close: the next tab to come may be it.
    await this.browserContext.waitForEvent('page', { timeout: arrivalMs }).catch(() => {})
    const late = await this.#find(this.#wanted ?? this.#active() ?? wanted)
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
