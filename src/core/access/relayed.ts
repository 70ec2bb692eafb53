/** Decides whether an ID or name means a browser session of the engine or a relayed browser. */
import { BaxError } from '../errors/errors.ts'
import type { Caller } from './caller.ts'

export interface Known {
  knows(idOrName: string, caller: Caller): boolean
}

/** Names of the sessions or of the relays of each key. */
export interface Names {
  hasName(name: string, owner: string | null): boolean
}

/** The error of a session that gets the name of a connected browser: callers use both by name. */
export const relayNamed = (name: string): BaxError =>
  new BaxError('conflict', `a connected browser is already named ${JSON.stringify(name)}`, {
    hint: 'choose another name, or run "bax relay stop" first',
    details: [{ path: 'requested_name', message: 'is the name of a connected browser' }],
  })

/** Returns whether a relayed browser is meant: the engine's own sessions take precedence. */
export const isRelayed = (idOrName: string, caller: Caller, sessions: Known, relays: Known): boolean =>
  !sessions.knows(idOrName, caller) && (relays.knows(idOrName, caller) || idOrName.startsWith('rly_'))

export const sessionNotFound = (idOrName: string): BaxError =>
  new BaxError('session_not_found', `no session has the id or name ${JSON.stringify(idOrName)}`, {
    hint: 'list them with "bax session list"',
  })

export const relayNotFound = (idOrName: string): BaxError =>
  new BaxError('relay_not_found', `no relay session ${idOrName}`, {
    hint: 'run "bax relay list", or connect a browser with "bax relay connect"',
  })

/** Returns the error for something that relayed browsers do not have. */
export const relayedError = (idOrName: string, caller: Caller, relays: Known, unsupported: BaxError): BaxError =>
  relays.knows(idOrName, caller) ? unsupported : relayNotFound(idOrName)
