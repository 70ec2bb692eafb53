/** Files of the local engine in a state folder, shared by the engine and its clients. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecord } from './state-record.ts'
import { stateKinds } from './state-kinds.ts'

/** Content of `engine.json`: facts of the running local engine. */
export interface EngineState {
  readonly pid: number
  readonly version: string
  readonly started_at: string
  readonly socket: string
  /** Configured browser; absent when the engine looks for one. */
  readonly browser?: string
  /** Digest of the proxies that it was started with; absent without any. */
  readonly proxies?: string
}

/** The line that a starting engine reports to its parent, and to processes that query its lock. */
export type StartReport =
  | { readonly state: 'ready' }
  /** Another process holds the lock of this state folder. */
  | { readonly state: 'held' }
  | { readonly state: 'failed'; readonly error: unknown }

/** Files in a state folder that belong to the local engine and to the CLI. */
export const localFiles = (stateDir: string) => ({
  state: join(stateDir, 'engine.json'),
  log: join(stateDir, 'engine.log'),
  lockKey: join(stateDir, 'engine.key'),
  /** Secret that encrypts credentials where no vault key is set. */
  vaultKey: join(stateDir, 'vault.key'),
  /** Errors of one-liners and of engines embedded in them. */
  cliLog: join(stateDir, 'bax.log'),
  /** Session selected with `bax session use`. */
  chosenSession: join(stateDir, 'session.json'),
})

/** Returns the file that records the output folder of a crawl. */
export const crawlOutput = (stateDir: string, id: string): string => join(stateDir, 'crawls', id, 'output.json')

/** Returns the state of the engine that runs, or ran, on this folder; undefined if it is missing or damaged. */
export function readEngineState(stateDir: string): EngineState | undefined {
  try {
    const record = decodeRecord<EngineState>(readFileSync(localFiles(stateDir).state, 'utf8'), stateKinds.engine)
    return 'content' in record ? record.content : undefined
  } catch {
    // It is not moved aside: the running engine or the next one replaces it.
    return undefined
  }
}
