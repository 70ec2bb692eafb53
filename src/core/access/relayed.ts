/** Decides whether an ID or name means a browser session of the engine or a relayed browser. */
import type { Caller } from './caller.ts'

export interface Known {
  knows(idOrName: string, caller: Caller): boolean
}

/** Returns whether a relayed browser is meant: the engine's own sessions take precedence. */
export const isRelayed = (idOrName: string, caller: Caller, sessions: Known, relays: Known): boolean =>
  !sessions.knows(idOrName, caller) && (relays.knows(idOrName, caller) || idOrName.startsWith('rly_'))
