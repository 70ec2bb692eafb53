/** Answers dialogs at once, so that they never block a session, unless a viewer with control answers them. */
import type { BrowserContext, Dialog } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { tabIdOf } from './tab-ids.ts'

export interface DialogAnswer {
  readonly accept: boolean
  /** Text for a prompt. */
  readonly text?: string | undefined
}

/** Returns the default answer: OK for alerts and `beforeunload`, Cancel for questions. */
export const defaultAnswer = (dialog: Dialog): DialogAnswer => ({
  accept: dialog.type() === 'alert' || dialog.type() === 'beforeunload',
})

/** Answers the dialogs of a context, except while `ours` returns false. */
export function answerDialogs(context: BrowserContext, events: EventLog, ours: () => boolean): void {
  context.on('dialog', (dialog) => {
    if (ours()) void answerDialog(dialog, events, async () => defaultAnswer(dialog))
  })
}

/** Maximum length of reported dialog texts. */
const textChars = 1000

/** Reports a dialog, and answers it with the result of `decide`. */
export async function answerDialog(
  dialog: Dialog,
  events: EventLog,
  decide: () => Promise<DialogAnswer>,
): Promise<void> {
  const kind = dialog.type()
  const page = dialog.page()
  const facts = { ...(page && { tab_id: tabIdOf(page) }), kind, message: dialog.message().slice(0, textChars) }
  const preset = kind === 'prompt' && { default_value: dialog.defaultValue().slice(0, textChars) }
  events.emit('dialog.opened', { ...facts, ...preset })
  const { accept, text } = await decide()
  let gone = false
  try {
    await (accept ? dialog.accept(text) : dialog.dismiss())
  } catch {
    // The page was closed first, which closed the dialog.
    gone = true
  }
  events.emit('dialog.closed', { ...facts, accepted: accept && !gone })
}
