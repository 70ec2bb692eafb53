/** Where the local engine of a state folder keeps its files; shared by the process itself and by those who look for it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a running local engine says of itself in `engine.json`. */
export interface EngineState {
  readonly pid: number
  readonly version: string
  readonly started_at: string
  readonly socket: string
  /** The browser it was told to use; left out when it looks for one. */
  readonly browser?: string
}

/** The one line that a starting engine sends to whoever started it, or answers to whoever asks its lock. */
export type StartReport =
  | { readonly state: 'ready' }
  /** Another process holds the lock of this state folder. */
  | { readonly state: 'held' }
  | { readonly state: 'failed'; readonly error: unknown }

/** Files of a state folder that belong to the local engine and to the terminal. */
export const localFiles = (stateDir: string) => ({
  state: join(stateDir, 'engine.json'),
  log: join(stateDir, 'engine.log'),
  lockKey: join(stateDir, 'engine.key'),
  /** Faults of one-liners and of engines inside them. */
  ownLog: join(stateDir, 'bax.log'),
  /** The choice of `bax session use`. */
  chosenSession: join(stateDir, 'session.json'),
})

/** The state file of the engine that runs, or ran, on this folder; undefined when there is none or it is broken. */
export function readEngineState(stateDir: string): EngineState | undefined {
  try {
    const state = JSON.parse(readFileSync(localFiles(stateDir).state, 'utf8')) as EngineState
    return typeof state.socket === 'string' && typeof state.version === 'string' ? state : undefined
  } catch {
    // Absent or half-deleted: both mean that no engine can be found through it.
    return undefined
  }
}
