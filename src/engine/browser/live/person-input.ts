/** The input of one viewer with control, in order: delivers it to the active page, and keeps it for the session's script. */
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { LiveInput } from '../../../core/shapes/live-view.ts'
import { cdpSessionOf } from '../page/hung-script.ts'
import { hasOpenDialog } from '../page/open-dialogs.ts'
import type { LiveSession } from '../ports/session.ts'
import { privacyOf } from '../privacy/privacy.ts'
import { controlLockOf, type Person } from './control-lock.ts'
import { PageInput } from './input.ts'

export class PersonInput {
  readonly #session: LiveSession
  readonly #person: Person
  #turn: Promise<unknown> = Promise.resolve()
  #input: PageInput | undefined

  constructor(session: LiveSession, person: Person) {
    this.#session = session
    this.#person = person
  }

  /** Keeps an input, and delivers that of mouse and keyboard. @throws BaxError `conflict` without control */
  take(input: LiveInput): Promise<void> {
    return this.inTurn(async () => {
      controlLockOf(this.#session).use(this.#person)
      const page = await this.#session.page()
      await this.#keep(input, page)
      if (input.type !== 'mouse' && input.type !== 'key' && input.type !== 'text') return
      if (this.#input?.page !== page) this.#input = new PageInput(page, cdpSessionOf(page))
      if (input.type === 'mouse') Object.assign(this.#session.pointer, { x: input.x, y: input.y })
      if (input.type === 'mouse') this.#input.mouse(input)
      else if (input.type === 'key') this.#input.key(input)
      else this.#input.text(input.text)
    })
  }

  /** Works after all earlier input, since what an input is about to change is read before. */
  inTurn(work: () => unknown): Promise<void> {
    const turn = this.#turn.then(async () => void (await work()))
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Runs work once the page has handled all earlier input, or after `limits.live.deliverMs`; does not wait for dialogs. */
  afterInput(work: () => unknown): Promise<void> {
    return this.inTurn(async () => {
      if (this.#input && !hasOpenDialog(this.#input.page)) await this.#delivered(limits.live.deliverMs)
      await work()
    })
  }

  async #delivered(ms: number): Promise<void> {
    const limit = { ms, value: undefined }
    await withDeadline(this.#input?.delivered ?? Promise.resolve(), limit).catch(() => {})
  }

  async #keep(input: LiveInput, page: Page): Promise<void> {
    const { steps } = controlLockOf(this.#session)
    if (steps) {
      // The input before may move the focus; its response waits for the answer to a dialog.
      const isKept = !('action' in input) || input.action === 'down'
      if (isKept && !hasOpenDialog(page)) await this.#delivered(limits.journal.describeMs)
      return steps.before(input, page)
    }
    const privacy = privacyOf(this.#session.browserContext)
    const { typed } = privacy.active ? privacy : this.#session.journal
    typed.add(input)
  }
}
