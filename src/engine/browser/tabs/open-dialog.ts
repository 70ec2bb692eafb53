/** An open dialog of a page: answers it, and reports when it is opened and closed. */
import type { Dialog } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import type { DialogAnswer } from '../../../core/operation/command.ts'
import type { AnsweredBy } from '../../../core/shapes/dialogs.ts'
import { cdpSessionOf } from '../page/hung-script.ts'
import { markDialog } from '../page/open-dialogs.ts'
import type { ClosedDialog } from '../ports/dialogs.ts'
import { tabIdOf } from './tab-ids.ts'

/** Maximum length of reported dialog texts. */
const textChars = 1000

interface Facts {
  readonly events: EventLog
  /** Other party that can close a dialog. */
  readonly outsider: AnsweredBy
}

/** A dialog until it is closed, which is reported once. */
export class OpenDialog {
  readonly dialog: Dialog
  readonly type: string
  readonly message: string
  /** When it was left for `answer_dialog`, by `performance.now()`. */
  leftAt: number | undefined
  readonly #facts: Facts
  readonly #report: Record<string, unknown>
  readonly #onClosed: (closed: ClosedDialog) => void
  readonly #openedAt = Date.now()
  readonly #unmark: () => void
  /** Set while it is being answered. */
  answering: Promise<boolean> | undefined
  #watched = false
  #closed = false

  constructor(dialog: Dialog, facts: Facts, onClosed: (closed: ClosedDialog) => void) {
    this.dialog = dialog
    this.type = dialog.type()
    this.message = dialog.message().slice(0, textChars)
    this.#facts = facts
    this.#onClosed = onClosed
    this.#unmark = markDialog(dialog)
    const page = dialog.page()
    this.#report = { ...(page && { tab_id: tabIdOf(page) }), type: this.type, kind: this.type, message: this.message }
    const preset = this.type === 'prompt' && { default_value: dialog.defaultValue().slice(0, textChars) }
    facts.events.emit('dialog.opened', { ...this.#report, ...preset })
  }

  get #preset(): string {
    return this.dialog.defaultValue()
  }

  /** Answers the dialog unless it is answered already; resolves when it is closed, to whether an answer closed it. */
  answer(answer: DialogAnswer, by: AnsweredBy): Promise<boolean> {
    return (this.answering ??= this.#closed ? Promise.resolve(false) : this.#send(answer, by))
  }

  async #send({ accept, text }: DialogAnswer, by: AnsweredBy): Promise<boolean> {
    let gone = false
    try {
      // Without a text, a prompt is accepted with its preset one, as by a person.
      if (accept) await this.dialog.accept(this.type === 'prompt' ? (text ?? this.#preset) : undefined)
      else await this.dialog.dismiss()
    } catch {
      // The page was closed first, which closed the dialog.
      gone = true
    }
    this.#close(accept && !gone, by, text ?? this.#preset)
    return !gone
  }

  /** Leaves the dialog open for `answer_dialog` or an outsider. */
  leave(): void {
    if (this.answering || this.#closed) return
    this.leftAt ??= performance.now()
    this.watch()
  }

  /** Reports when an outsider closes the dialog, or its page is closed. */
  watch(): void {
    const page = this.dialog.page()
    if (this.#watched || !page) return
    this.#watched = true
    const onClosed = (accepted: boolean, text?: string) =>
      this.answering || this.#close(accepted, this.#facts.outsider, text)
    page.once('close', () => onClosed(false))
    cdpSessionOf(page).then(
      (cdp) => {
        cdp.once('Page.javascriptDialogClosed', ({ result, userInput }) => onClosed(result, userInput))
        // Answered once the dialog is closed; fails when the page is closed first.
        cdp.send('Page.enable').catch(() => {})
      },
      // The page has closed.
      () => {},
    )
  }

  #close(accepted: boolean, by: AnsweredBy, text?: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#unmark()
    this.#facts.events.emit('dialog.closed', { ...this.#report, accepted, answered_by: by })
    const { type, message } = this
    this.#onClosed({ type, message, accepted, text, openedAt: this.#openedAt })
  }
}
