/** Finds sessions of the engine for work that browsers connected through the relay do not support. */
import type { Caller } from '../../../core/access/caller.ts'
import { isRelayed, type Known, relayedError } from '../../../core/access/relayed.ts'
import type { BaxError } from '../../../core/errors/errors.ts'
import type { LiveSession } from '../ports/session.ts'

export type FindSession = (idOrName: string, caller: Caller) => LiveSession

/** Returns a function that finds a live session, and throws the error of `unsupported` for a relayed browser. */
export const ownSessions =
  (sessions: Known & { readonly live: FindSession }, relays: Known, unsupported: () => BaxError): FindSession =>
  (idOrName, caller) => {
    if (!isRelayed(idOrName, caller, sessions, relays)) return sessions.live(idOrName, caller)
    throw relayedError(idOrName, caller, relays, unsupported())
  }
