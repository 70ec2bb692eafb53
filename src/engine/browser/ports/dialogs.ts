/** The dialogs of a session, as commands, viewers, CDP clients and recordings use them. */
import type { Dialog, Page } from 'playwright'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { DialogAnswer, DialogOutcome } from '../../../core/operation/command.ts'

/** A dialog that was answered, or closed with its page. */
export interface ClosedDialog {
  readonly type: string
  readonly message: string
  readonly accepted: boolean
  /** Text of a prompt; not part of the events. */
  readonly text?: string | undefined
  /** In milliseconds since the epoch. */
  readonly openedAt: number
}

export interface DialogControl {
  readonly newest: Dialog | undefined
  /** Whether a command can answer an open dialog: only a person in control answers those that open meanwhile. */
  readonly answerable: boolean
  /** Answers the newest open dialog, or else the next one that opens. @throws BaxError `invalid_data`, `conflict`. */
  answerNext(answer: DialogAnswer): Promise<DialogOutcome>
  /** Answers the newest dialog for the person in control. @throws BaxError `conflict` when no dialog is open. */
  answerForPerson(answer: DialogAnswer): void
  /** Leaves dialogs to a person until the returned function is called; calls `show` whenever the newest one changes. */
  hold(show: () => void): () => void
  /** Calls `watcher` for every dialog that is closed, until the returned function is called. */
  watch(watcher: (closed: ClosedDialog) => void): () => void
  /** Lets a CDP client answer dialogs first, until the returned function is called. */
  addClient(): () => void
  /** Throws when a dialog of the page waits for an answer. @throws BaxError `dialog_blocking`. */
  checkOpen(page: Page, what: string): void
  /** Rejects with `dialog_blocking` when a dialog that opens during `work` is not answered in time. */
  unlessBlocked<T>(page: Page, what: string, work: () => Promise<T>): Promise<T>
  /** Returns the error of a call that timed out while a dialog of any tab was open; undefined without one. */
  errorFor(what: string): BaxError | undefined
  /** Waits for answers that are being sent, so that they are reported; not for long, since a browser may hang. */
  settled(): Promise<void>
}
