/** Pages with an open dialog. They do not respond until it is answered, which must not be mistaken for a hung script. */
import type { Dialog, Page } from 'playwright'

const open = new WeakMap<Page, Set<Dialog>>()

export const hasOpenDialog = (page: Page): boolean => (open.get(page)?.size ?? 0) > 0

/** Marks the page of a dialog until the returned function is called. */
export function markDialog(dialog: Dialog): () => void {
  const page = dialog.page()
  if (!page) return () => {}
  const dialogs = open.get(page) ?? new Set()
  open.set(page, dialogs.add(dialog))
  return () => void dialogs.delete(dialog)
}
