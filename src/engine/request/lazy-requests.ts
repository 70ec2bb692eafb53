/** Single HTTP requests of an engine; their code is loaded at the first one. */
import type { Known } from '../../core/access/relayed.ts'
import type { Requests, Scraper } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { type FindSession, ownSessions } from '../browser/session/own-session.ts'
import type { LazyScraper } from '../scrape/lazy-scraper.ts'
import type { RequestContext } from './send-request.ts'

export function lazyRequests(
  context: Pick<RequestContext, 'egress' | 'profiles' | 'botKey'>,
  sessions: Known & { readonly live: FindSession },
  relays: Known,
): Requests {
  const live = ownSessions(sessions, relays, noCookies)
  return {
    send: async (input, call) => (await import('./send-request.ts')).sendRequest({ ...context, live }, input, call),
  }
}

/** Adds scrapes with the cookies of a session to a scraper. */
export function withSessions(
  scraper: LazyScraper,
  botKey: RequestContext['botKey'],
  sessions: Known & { readonly live: FindSession },
  relays: Known,
): LazyScraper {
  const live = ownSessions(sessions, relays, noCookies)
  const scrape: Scraper['scrape'] = async (input, call) => {
    const { session_id } = input
    if (session_id === undefined) return scraper.scrape(input, call)
    const { scrapeInSession } = await import('./session-scrape.ts')
    return scrapeInSession({ scraper: () => scraper.load(), live, botKey }, { ...input, session_id }, call)
  }
  return Object.assign(Object.create(scraper) as LazyScraper, { scrape })
}

const noCookies = () =>
  new BaxError('unsupported', 'the cookies of a relay session are not sent: they belong to the user of the browser', {
    hint: 'use a session of the engine ("bax session create")',
  })
