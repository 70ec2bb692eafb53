/** Dialogs are answered at once, so that none of them ever blocks a session; who has the control answers for themselves. */
import type { BrowserContext, Dialog } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { tabIdOf } from './tab-ids.ts'

export interface DialogAnswer {
  readonly accept: boolean
  /** For a prompt. */
  readonly text?: string | undefined
}

/** What a person in a hurry would press: OK where nothing is asked, Cancel where something is. */
export const usualAnswer = (dialog: Dialog): DialogAnswer => ({
  accept: dialog.type() === 'alert' || dialog.type() === 'beforeunload',
})

/** Dialogs for which `ours` is false are left to the person before the browser. */
export function answerDialogs(context: BrowserContext, events: EventLog, ours: () => boolean = () => true): void {
  context.on('dialog', (dialog) => {
    if (ours()) void answerDialog(dialog, events, async () => usualAnswer(dialog))
  })
}

/** Of what a page writes into a dialog. */
const textChars = 1000

/** Tells of a dialog, and closes it as `decide` says. */
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
    // Its page was closed first, which closes the dialog too.
    gone = true
  }
  events.emit('dialog.closed', { ...facts, accepted: accept && !gone })
}
