/** The control of a session, which one person at a time can take from its commands and hand back. */
import type { Dialog } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { LiveDialog } from '../../../core/shapes/live-view.ts'
import { answerDialog, type DialogAnswer, usualAnswer } from '../tabs/dialogs.ts'
import type { Session } from '../session/session.ts'

/** Somebody who looks on, and may take the control. */
export interface Person {
  /** Aborted when the person goes. */
  readonly gone: AbortSignal
  onControl(): void
  onDialog(dialog: LiveDialog | null): void
}

interface Holding {
  readonly person: Person
  readonly handBack: () => void
  idle: NodeJS.Timeout
}

interface OpenDialog {
  readonly dialog: Dialog
  readonly answer: (answer: DialogAnswer) => void
}

const hands = new WeakMap<Session, Hand>()

/** The one of a session. */
export function handOf(session: Session): Hand {
  let hand = hands.get(session)
  if (!hand) hands.set(session, (hand = new Hand(session)))
  return hand
}

export class Hand {
  readonly #session: Session
  readonly #people = new Set<Person>()
  #wanted: Person | undefined
  #holding: Holding | undefined
  /** Open dialogs, the newest last: every tab can have one. */
  readonly #open: OpenDialog[] = []

  constructor(session: Session) {
    this.#session = session
  }

  get holder(): Person | undefined {
    return this.#holding?.person
  }

  /** Who has asked for it and waits for what runs. */
  get wanted(): Person | undefined {
    return this.#wanted
  }

  watch(person: Person): void {
    this.#people.add(person)
    person.gone.addEventListener('abort', () => this.#people.delete(person), { once: true })
  }

  /**
   * Asks for the control: it comes when what runs is done, and from then on commands wait for their turn.
   * @throws BaxError `conflict` when somebody else has it or waits for it.
   */
  async take(person: Person): Promise<void> {
    const other = this.holder ?? this.#wanted
    if (other === person) return
    if (other) throw new BaxError('conflict', 'somebody else has the control of this session, or waits for it')
    this.#wanted = person
    this.#tell()
    const signal = AbortSignal.any([person.gone, this.#session.ended])
    const session = this.#session
    try {
      await session.use(() => session.turns.take(() => this.#hold(person, signal), signal))
    } catch (error) {
      // Whoever left while waiting wants nothing any more; a session that ends tells so itself.
      if (!signal.aborted) throw error
    } finally {
      if (this.#wanted === person) this.#wanted = undefined
      this.#tell()
    }
  }

  /** Hands it back; commands that waited go on. */
  handBack(person: Person): void {
    if (this.#holding?.person === person) this.#holding.handBack()
  }

  /**
   * Says that the person does something, which puts off the end of a control that nobody uses.
   * @throws BaxError `conflict` when it is not theirs.
   */
  use(person: Person): void {
    if (this.#holding?.person !== person) throw new BaxError('conflict', 'take the control of the session first')
    this.#holding.idle.refresh()
  }

  /** @throws BaxError `conflict` when no dialog is open. */
  answerDialog(answer: DialogAnswer): void {
    const newest = this.#open.at(-1)
    if (!newest) throw new BaxError('conflict', 'no dialog is open')
    newest.answer(answer)
  }

  async #hold(person: Person, signal: AbortSignal): Promise<void> {
    const { events, browserContext } = this.#session
    this.#wanted = undefined
    const onDialog = (dialog: Dialog) => void answerDialog(dialog, events, () => this.#ask(dialog, person))
    browserContext.on('dialog', onDialog)
    events.emit('control.taken')
    let reason = 'returned'
    await new Promise<void>((resolve) => {
      const idle = setTimeout(() => {
        reason = 'idle'
        resolve()
      }, limits.live.idleMs)
      this.#holding = { person, idle, handBack: resolve }
      signal.addEventListener('abort', () => resolve(), { once: true })
      this.#tell()
    })
    clearTimeout(this.#holding!.idle)
    this.#holding = undefined
    browserContext.off('dialog', onDialog)
    // One that is still open is answered as without a person: commands must not find it in their way.
    for (const { dialog, answer } of this.#open) answer(usualAnswer(dialog))
    events.emit('control.returned', { reason: signal.aborted ? 'left' : reason })
  }

  async #ask(dialog: Dialog, person: Person): Promise<DialogAnswer> {
    const answered = new Promise<DialogAnswer>((answer) => this.#open.push({ dialog, answer }))
    const show = () => person.onDialog(told(this.#open.at(-1)))
    show()
    const answer = await answered
    this.#open.splice(
      this.#open.findIndex((open) => open.dialog === dialog),
      1,
    )
    show()
    return answer
  }

  #tell(): void {
    for (const person of this.#people) person.onControl()
  }
}

const told = (open: OpenDialog | undefined): LiveDialog | null =>
  open ? { kind: open.dialog.type(), message: open.dialog.message(), default_value: open.dialog.defaultValue() } : null
