/** Storage part of an observation. */
import type { Page } from 'playwright'
import { toApiCookie } from '../../../commands/cookie-shape.ts'
import type { Observation } from '../../../core/shapes/observe.ts'

/** Reads the cookies of the session and the storage of the page's origin, null for a page without an origin. */
export async function storageOf(page: Page): Promise<NonNullable<Observation['storage']>> {
  const [cookies, areas] = await Promise.all([
    page.context().cookies(),
    page.evaluate(() => {
      try {
        return { local_storage: { ...localStorage }, session_storage: { ...sessionStorage } }
      } catch {
        // The page has no origin.
        return { local_storage: null, session_storage: null }
      }
    }),
  ])
  return { cookies: cookies.map(toApiCookie), ...areas }
}
