/** Single HTTP requests of an engine; their code is loaded at the first one. */
import type { Known } from '../../core/access/relayed.ts'
import type { Crawls, Requests, Scraper } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { type FindSession, ownSessions } from '../browser/session/own-session.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import type { RequestContext } from './send-request.ts'
import type { MapsWithIdentity } from './session-scrape.ts'

export function lazyRequests(
  context: Omit<RequestContext, 'live'>,
  sessions: Known & { readonly live: FindSession },
  relays: Known,
): Requests {
  const live = ownSessions(sessions, relays, noCookies)
  return {
    send: async (input, call) => (await import('./send-request.ts')).sendRequest({ ...context, live }, input, call),
  }
}

/** Adds reads with the cookies of a session to a scraper and to maps. */
export function withSessions<Maps extends MapsWithIdentity>(
  { scraper, crawls }: { readonly scraper: LazyScraper; readonly crawls: Maps },
  shared: Pick<RequestContext, 'botKey' | 'verifyTls'>,
  sessions: Known & { readonly live: FindSession },
  relays: Known,
): { extractor: LazyScraper; crawls: Maps } {
  const context = { ...shared, live: ownSessions(sessions, relays, noCookies) }
  const scrape: Scraper['scrape'] = async (input, call) => {
    const { session_id } = input
    if (session_id === undefined) return scraper.scrape(input, call)
    const { scrapeInSession } = await import('./session-scrape.ts')
    return scrapeInSession({ ...context, scraper: () => scraper.load() }, { ...input, session_id }, call)
  }
  const map: Crawls['map'] = async (input, call) => {
    const { session_id } = input
    if (session_id === undefined) return crawls.map(input, call)
    return (await import('./session-scrape.ts')).mapInSession({ ...context, crawls }, { ...input, session_id }, call)
  }
  return {
    extractor: Object.assign(Object.create(scraper) as LazyScraper, { scrape }),
    crawls: Object.assign(Object.create(crawls) as Maps, { map }),
  }
}

const noCookies = () =>
  new BaxError('unsupported', 'the cookies of a relay session are not sent: they belong to the user of the browser', {
    hint: 'use a session of the engine ("bax session create")',
  })
