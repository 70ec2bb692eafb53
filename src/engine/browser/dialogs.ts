/** Dialogs are answered at once, so that none of them ever blocks a session. */
import type { BrowserContext, Dialog } from 'playwright'
import type { EventLog } from '../../core/events.ts'
import { tabIdOf } from './tab-ids.ts'

/** What a person in a hurry would press: OK where nothing is asked, Cancel where something is. */
const accepted: ReadonlySet<string> = new Set(['alert', 'beforeunload'])

/** Dialogs for which `ours` is false are left to the person before the browser. */
export function answerDialogs(context: BrowserContext, events: EventLog, ours: () => boolean = () => true): void {
  context.on('dialog', (dialog) => {
    if (ours()) void answer(dialog, events)
  })
}

async function answer(dialog: Dialog, events: EventLog): Promise<void> {
  const kind = dialog.type()
  const accept = accepted.has(kind)
  const page = dialog.page()
  const facts = { ...(page && { tab_id: tabIdOf(page) }), kind, message: dialog.message().slice(0, 1000) }
  events.emit('dialog.opened', { ...facts, ...(kind === 'prompt' && { default_value: dialog.defaultValue() }) })
  let gone = false
  try {
    await (accept ? dialog.accept() : dialog.dismiss())
  } catch {
    // Its page was closed first, which closes the dialog too.
    gone = true
  }
  events.emit('dialog.closed', { ...facts, accepted: accept && !gone })
}
