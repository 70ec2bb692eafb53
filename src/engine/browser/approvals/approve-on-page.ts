/** Approvals of what a command is about to do on the page that a person sees. */
import type { Page } from 'playwright'
import type { PausableTimeout } from '../../../core/process/pausable-timeout.ts'
import type { Action, ApprovalControl } from '../ports/approvals.ts'
import { ShownDocument } from './shown-document.ts'

export interface PageApproval {
  readonly page: Page
  readonly approvals: ApprovalControl
  /** Clock of the command, which stops while a person decides. */
  readonly clock: PausableTimeout
}

/** Waits for an approval. @throws BaxError also when the page shows another document then: nothing may be done. */
export async function approveOnPage({ page, approvals, clock }: PageApproval, action: Action): Promise<void> {
  const document = new ShownDocument(page.mainFrame())
  const { left, release } = document.watch()
  try {
    await clock.pauseDuring(() => approvals.ask(action, [left]))
  } finally {
    release()
  }
  document.assertShownIn(page.mainFrame())
}
