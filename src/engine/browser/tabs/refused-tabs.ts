/** Closes tabs beyond the limit of a session. */
import type { Page } from 'playwright'
import type { EventLog } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { tabIdOf } from './tab-ids.ts'

/** Returns a function that closes a tab, and after repeated attempts the page that opens them. */
export function refuser(events: EventLog): (page: Page) => void {
  let refused = 0
  return (page) => {
    refused += 1
    const tooMany = refused % limits.session.refusedTabs === 0
    // Ignore failures: the pages may be closed already.
    const quit = async () => {
      if (tooMany) await (await page.opener())?.close()
      await page.close()
    }
    void quit().catch(() => {})
    if (!tooMany) return
    const message = `closed a page that opens too many tabs: a session may have at most ${limits.session.tabs} tabs`
    events.emit('page.error', { tab_id: tabIdOf(page), message })
  }
}
