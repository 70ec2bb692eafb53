/** Where the local engine of a state folder keeps its files; shared by the process itself and by those who look for it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecord } from './state-record.ts'
import { stateKinds } from './state-kinds.ts'

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

/** Says which folder the pages of a crawl go into. */
export const crawlOutput = (stateDir: string, id: string): string => join(stateDir, 'crawls', id, 'output.json')

/** The state file of the engine that runs, or ran, on this folder; undefined when there is none or it is damaged. */
export function readEngineState(stateDir: string): EngineState | undefined {
  try {
    const record = decodeRecord<EngineState>(readFileSync(localFiles(stateDir).state, 'utf8'), stateKinds.engine)
    return 'content' in record ? record.content : undefined
  } catch {
    // It is not moved aside: the engine that runs replaces it, and so does the next one.
    return undefined
  }
}
