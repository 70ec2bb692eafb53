/** Decides whether an ID or name means a browser session of the engine or a relayed browser. */
import { BaxError } from '../errors/errors.ts'
import type { Caller } from './caller.ts'

export interface Known {
  knows(idOrName: string, caller: Caller): boolean
}

/** Returns whether a relayed browser is meant: the engine's own sessions take precedence. */
export const isRelayed = (idOrName: string, caller: Caller, sessions: Known, relays: Known): boolean =>
  !sessions.knows(idOrName, caller) && (relays.knows(idOrName, caller) || idOrName.startsWith('rly_'))

export const relayNotFound = (idOrName: string): BaxError =>
  new BaxError('relay_not_found', `no relay session ${idOrName}`, {
    hint: 'run "bax relay list", or connect a browser with "bax relay connect"',
  })

/** Returns the error for something that relayed browsers do not have. */
export const relayedError = (idOrName: string, caller: Caller, relays: Known, unsupported: BaxError): BaxError =>
  relays.knows(idOrName, caller) ? unsupported : relayNotFound(idOrName)
