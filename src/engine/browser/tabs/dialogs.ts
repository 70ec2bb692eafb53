/** Dialogs of a session's pages: answered by a command, a person, a CDP client or the user, else by the session's setting. */
import type { BrowserContext, Dialog, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { DialogAnswer, DialogOutcome } from '../../../core/operation/command.ts'
import { type AnsweredBy, dialogTypes } from '../../../core/shapes/dialogs.ts'
import type { SessionInput } from '../../../core/shapes/session.ts'
import type { ClosedDialog, DialogControl } from '../ports/dialogs.ts'
import { OpenDialog } from './open-dialog.ts'
import { tabIdOf } from './tab-ids.ts'

export interface DialogsFacts {
  readonly context: BrowserContext
  readonly events: EventLog
  /** Returns how dialogs are answered; `leave` ignores queued answers too, for dialogs that belong to the user. */
  readonly setting: () => SessionInput['dialogs'] | 'leave'
  /** Other party that can close a dialog: a CDP client of the session, or the user of the browser. */
  readonly outsider: Extract<AnsweredBy, 'client' | 'person'>
}

/** Time for the browser to confirm answers. */
const settleMs = 500

export class Dialogs implements DialogControl {
  readonly #facts: DialogsFacts
  /** Open dialogs, the newest last: every tab can have one. */
  readonly #open: OpenDialog[] = []
  readonly #listeners = new Set<() => void>()
  readonly #watchers = new Set<(closed: ClosedDialog) => void>()
  /** Connected CDP clients that receive dialogs. */
  readonly #clients = new Set<object>()
  #queued: DialogAnswer | undefined
  #held = false

  constructor(facts: DialogsFacts) {
    this.#facts = facts
    facts.context.on('dialog', (dialog) => this.#onDialog(dialog))
  }

  get newest(): Dialog | undefined {
    return this.#open.at(-1)?.dialog
  }

  get answerable(): boolean {
    return this.#waiting !== undefined
  }

  async answerNext(answer: DialogAnswer): Promise<DialogOutcome> {
    const open = this.#waiting
    if (!open) {
      const replaced = this.#queued !== undefined
      this.#queued = answer
      return { answered: false, kept_for: this.#answered, ...(replaced && { replaced }) }
    }
    const { type, message } = open
    if (answer.text !== undefined && type !== 'prompt') {
      throw new BaxError('invalid_data', `text is for a prompt, but the open dialog is of type ${type}`, {
        hint: 'omit text',
      })
    }
    if (await open.answer(answer, 'answer_dialog')) return { answered: true, type, message }
    throw new BaxError('conflict', 'the dialog was closed before it could be answered')
  }

  answerForPerson(answer: DialogAnswer): void {
    const newest = this.#open.at(-1)
    if (!newest) throw new BaxError('conflict', 'no dialog is open')
    void newest.answer(answer, 'person')
  }

  hold(show: () => void): () => void {
    this.#held = true
    this.#listeners.add(show)
    if (this.#open.length > 0) show()
    return () => {
      this.#held = false
      this.#listeners.delete(show)
      // Dialogs must not block the commands that follow.
      for (const open of this.#open) this.#applySetting(open)
    }
  }

  watch(watcher: (closed: ClosedDialog) => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  addClient(): () => void {
    const client = {}
    this.#clients.add(client)
    return () => void this.#clients.delete(client)
  }

  checkOpen(page: Page, what: string): void {
    const open = this.#leftOn(page)
    if (open) throw blockedBy(open, what)
  }

  async unlessBlocked<T>(page: Page, what: string, work: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    let onBlocked!: (error: BaxError) => void
    const blocked = new Promise<never>((_, reject) => (onBlocked = reject))
    const check = () => {
      clearTimeout(timer)
      const open = this.#leftOn(page)
      if (!open) return
      const left = open.leftAt! + limits.dialog.answerMs - performance.now()
      timer = setTimeout(() => onBlocked(blockedBy(open, what)), left)
    }
    this.#listeners.add(check)
    check()
    try {
      return await Promise.race([work(), blocked])
    } finally {
      this.#listeners.delete(check)
      clearTimeout(timer)
    }
  }

  errorFor(what: string): BaxError | undefined {
    const open = this.#open.at(-1)
    return open && blockedBy(open, what)
  }

  async settled(): Promise<void> {
    await withDeadline(Promise.all(this.#open.map(({ answering }) => answering)), { ms: settleMs, value: undefined })
  }

  /** The newest open dialog that nobody is answering; a person may have taken control since a command began. */
  get #waiting(): OpenDialog | undefined {
    return this.#held ? undefined : this.#open.findLast(({ answering }) => !answering)
  }

  #leftOn(page: Page): OpenDialog | undefined {
    return this.#open.find((open) => open.leftAt !== undefined && open.dialog.page() === page)
  }

  #onDialog(dialog: Dialog): void {
    const open = new OpenDialog(dialog, this.#facts, (closed) => {
      this.#open.splice(this.#open.indexOf(open), 1)
      for (const watcher of this.#watchers) watcher(closed)
      this.#notify()
    })
    this.#open.push(open)
    const answer = this.#held ? undefined : this.#takeQueued(dialog)
    if (answer) void open.answer(answer, 'answer_dialog')
    else if (this.#held) open.watch()
    else if (this.#clients.size > 0) {
      open.watch()
      setTimeout(() => this.#held || this.#applySetting(open), limits.dialog.clientMs).unref()
    } else this.#applySetting(open)
    this.#notify()
  }

  #applySetting(open: OpenDialog): void {
    const setting = this.#facts.setting()
    if (setting === 'ask' || setting === 'leave') {
      open.leave()
      return this.#notify()
    }
    const isPlain = open.type === 'alert' || open.type === 'beforeunload'
    void open.answer({ accept: isPlain || setting === 'accept' }, 'setting')
  }

  /** Types of the dialogs that take a queued answer: an alert has only one answer, which it needs only with `ask`. */
  get #answered(): readonly string[] {
    return this.#facts.setting() === 'ask' ? dialogTypes : dialogTypes.filter((type) => type !== 'alert')
  }

  /** Returns the queued answer if it is for this dialog. */
  #takeQueued(dialog: Dialog): DialogAnswer | undefined {
    if (this.#facts.setting() === 'leave' || !this.#answered.includes(dialog.type())) return undefined
    const queued = this.#queued
    this.#queued = undefined
    return queued
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

function blockedBy({ type, message, dialog }: OpenDialog, what: string): BaxError {
  const page = dialog.page()
  return new BaxError(
    'dialog_blocking',
    `an open dialog of the page blocks ${what}: ${type} ${JSON.stringify(message)}`,
    {
      hint: 'answer it with answer_dialog: run "bax dialog accept" or "bax dialog dismiss"',
      details: { dialog: { type, message, ...(page && { tab_id: tabIdOf(page) }) } },
    },
  )
}
