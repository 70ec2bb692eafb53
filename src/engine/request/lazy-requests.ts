/** Single HTTP requests of an engine; their code is loaded at the first one. */
import type { Known } from '../../core/access/relayed.ts'
import type { Requests } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { type FindSession, ownSessions } from '../browser/session/own-session.ts'
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

const noCookies = () =>
  new BaxError('unsupported', 'the cookies of a relay session are not sent: they belong to the user of the browser', {
    hint: 'use a session of the engine ("bax session create")',
  })
