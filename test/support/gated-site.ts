/** A tree of tiny pages, whose responses a test can hold back. */
import { linkPage } from './crawl.ts'
import { serveSite, type Site } from './site.ts'
import { waitUntil } from './wait.ts'

export interface GatedSite extends Site {
  /** Holds back all further responses, until `release`. */
  hold(): void
  /** Resolves once there were this many requests, of which the last ones are held back if `hold` is true. */
  requested(count: number, options?: { readonly hold: boolean }): Promise<void>
  /** Resolves once this many responses are held back for clients that still wait for them. */
  waiting(count: number): Promise<void>
  release(): void
}

/** Serves pages `/p/0` to `/p/COUNT-1`; each links to `fan` further ones, and back to the first. */
export async function serveTree(count: number, { fan = 10, host = '127.0.0.1' } = {}): Promise<GatedSite> {
  const held = new Map<() => void, () => boolean>()
  let holdsFrom = Infinity
  let pages = 0
  const paths = Array.from({ length: count }, (_, at) => `/p/${at}`)
  const site = await serveSite(
    Object.fromEntries(
      paths.map((path, at) => [
        path,
        (_, response) => {
          const links = ['/p/0', ...paths.slice(fan * at + 1, fan * at + fan + 1)]
          const answer = () => void response.setHeader('content-type', 'text/html').end(linkPage(path, links))
          if (++pages > holdsFrom) held.set(answer, () => !response.destroyed)
          else answer()
        },
      ]),
    ),
    host,
  )
  const waiting = () => [...held.values()].filter((isOpen) => isOpen()).length
  return {
    ...site,
    hold: () => void (holdsFrom = 0),
    requested: async (more, { hold } = { hold: false }) => {
      const until = pages + more
      if (hold) holdsFrom = until
      // Fails when no further request comes, however long all of them take on a busy machine.
      for (let before = pages; pages < until; before = pages) await waitUntil(() => pages > before)
    },
    waiting: (number) => waitUntil(() => waiting() === number),
    release: () => {
      holdsFrom = Infinity
      for (const answer of held.keys()) answer()
      held.clear()
    },
  }
}
