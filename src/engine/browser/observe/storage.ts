import type { Page } from 'playwright'
import { readable } from '../../../commands/cookie-shape.ts'
import type { Observation } from '../../../core/shapes/observe.ts'

/** Cookies of the session and what the page's origin stores; null for a page without an origin. */
export async function storageOf(page: Page): Promise<NonNullable<Observation['storage']>> {
  const [cookies, areas] = await Promise.all([
    page.context().cookies(),
    page.evaluate(() => {
      try {
        return { local_storage: { ...localStorage }, session_storage: { ...sessionStorage } }
      } catch {
        // Touching the storage of such a page throws.
        return { local_storage: null, session_storage: null }
      }
    }),
  ])
  return { cookies: cookies.map(readable), ...areas }
}
