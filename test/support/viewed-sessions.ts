/** Sessions that a test drives, and watches as a person does in their live views. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type Homes, openHomes } from './homes.ts'
import { serveSite, type Site } from './site.ts'
import { openViews, type Views } from './views.ts'

export interface ViewedSessions {
  readonly homes: Homes
  readonly site: Site
  readonly views: Views
  /** Creates a session on a page of the site; returns its ID. */
  create(path?: string): Promise<string>
}

/** Opens an engine, a site and a browser for the tests of a file; after each test, its sessions and views are closed. */
export function viewedSessions(
  pages: Parameters<typeof serveSite>[0],
  config?: Parameters<typeof openHomes>[0],
): ViewedSessions {
  let homes: Homes
  let site: Site
  let views: Views
  beforeAll(async () => {
    ;[homes, site, views] = await Promise.all([openHomes(config), serveSite(pages), openViews()])
  })
  afterAll(async () => {
    await views?.close()
    await homes?.close()
    await site?.close()
  })
  afterEach(async () => {
    await views.clear()
    const { sessions } = await homes.clients.http.listSessions({})
    await Promise.all(sessions.map(({ session_id }) => homes.clients.http.closeSession({ session_id })))
  })
  return {
    get homes() {
      return homes
    },
    get site() {
      return site
    },
    get views() {
      return views
    },
    create: async (path = '/') =>
      (await homes.clients.http.createSession({ headless: true, start_url: `${site.url}${path}` })).session_id!,
  }
}
