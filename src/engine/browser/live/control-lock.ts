/** Lock for the control of a session, which one viewer at a time can take from its commands and return. */
import type { Dialog } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { LiveDialog } from '../../../core/shapes/live-view.ts'
import type { DialogAnswer } from '../../../core/operation/command.ts'
import type { LiveSession } from '../ports/session.ts'
import { oncePer } from '../../../core/once-per.ts'
import { PersonSteps } from './person-steps.ts'

/** A viewer who may take control. */
export interface Person {
  /** Aborted when the viewer disconnects. */
  readonly gone: AbortSignal
  onControl(): void
  onDialog(dialog: LiveDialog | null): void
}

/** Work before and after a person has control. */
export interface ControlGuard {
  /** Whether a person may still take control. */
  readonly open: boolean
  begin(): Promise<void>
  /** Runs before commands continue. */
  end(reason: 'returned' | 'left' | 'idle'): Promise<void>
}

interface Holding {
  readonly person: Person
  readonly steps: PersonSteps | undefined
  readonly release: () => void
  idle: NodeJS.Timeout
}

/** Returns the control lock of a session. */
export const controlLockOf = oncePer((session: LiveSession) => new ControlLock(session))

export class ControlLock {
  readonly #session: LiveSession
  readonly #people = new Set<Person>()
  #waiting: Person | undefined
  #holding: Holding | undefined
  /** Accompanies the next person who takes control. */
  guard: ControlGuard | undefined

  constructor(session: LiveSession) {
    this.#session = session
  }

  get holder(): Person | undefined {
    return this.#holding?.person
  }

  /** Keeps what the person in control does; undefined during a handoff. */
  get steps(): PersonSteps | undefined {
    return this.#holding?.steps
  }

  /** Viewer who waits for running commands to finish. */
  get waiting(): Person | undefined {
    return this.#waiting
  }

  watch(person: Person): void {
    this.#people.add(person)
    person.gone.addEventListener('abort', () => this.#people.delete(person), { once: true })
  }

  /** Takes control after running commands; further ones wait. @throws BaxError `conflict` if another viewer has it. */
  async take(person: Person): Promise<void> {
    const other = this.holder ?? this.#waiting
    if (other === person) return
    if (other) throw new BaxError('conflict', 'another viewer has control of this session, or waits for it')
    this.#waiting = person
    this.#notify()
    const signal = AbortSignal.any([person.gone, this.#session.ended])
    const session = this.#session
    try {
      await session.use(() => session.queue.run(() => this.#hold(person, signal), signal))
    } catch (error) {
      // Ignore the abort when the viewer disconnects or the session ends.
      if (!signal.aborted) throw error
    } finally {
      if (this.#waiting === person) this.#waiting = undefined
      this.#notify()
    }
  }

  /** Returns control; waiting commands continue. */
  release(person: Person): void {
    if (this.#holding?.person === person) this.#holding.release()
  }

  /** Takes control away from the person who has it. */
  revoke(): void {
    this.#holding?.release()
  }

  /** Restarts the idle timeout of the control. @throws BaxError `conflict` when the viewer does not have control. */
  use(person: Person): void {
    if (this.#holding?.person !== person) throw new BaxError('conflict', 'take control of the session first')
    this.#holding.idle.refresh()
  }

  /** Answers the newest dialog. @throws BaxError `conflict` when no dialog is open. */
  answerDialog(answer: DialogAnswer): void {
    this.#session.dialogs.answerForPerson(answer)
  }

  async #hold(person: Person, signal: AbortSignal): Promise<void> {
    const { events, dialogs, journal } = this.#session
    const { guard } = this
    await guard?.begin()
    if (guard?.open === false) return guard.end('returned')
    this.#waiting = undefined
    const steps = guard ? undefined : new PersonSteps(this.#session)
    const forgetControl = journal.addControl(this.#session.activePage)
    const releaseDialogs = dialogs.hold(() => person.onDialog(describeDialog(dialogs.newest)))
    events.emit('control.taken')
    const reason = await new Promise<'returned' | 'left' | 'idle'>((resolve) => {
      const idle = setTimeout(() => resolve('idle'), limits.live.idleMs)
      this.#holding = { person, steps, idle, release: () => resolve('returned') }
      signal.addEventListener('abort', () => resolve('left'), { once: true })
      // The person may have left before.
      if (signal.aborted) resolve('left')
      this.#notify()
    })
    clearTimeout(this.#holding!.idle)
    this.#holding = undefined
    releaseDialogs()
    this.#notify()
    try {
      await guard?.end(reason)
      await steps?.end()
    } finally {
      // Dialogs may have been answered by commands meanwhile.
      if (!steps || steps.isIncomplete) journal.addControl(this.#session.activePage)
      else forgetControl()
      events.emit('control.returned', { reason })
    }
  }

  #notify(): void {
    for (const person of this.#people) person.onControl()
  }
}

const describeDialog = (open: Dialog | undefined): LiveDialog | null =>
  open ? { kind: open.type(), message: open.message(), default_value: open.defaultValue() } : null
