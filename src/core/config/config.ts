import type { Allowances } from '../access/quota.ts'
import type { BoundObjects } from '../fleet.ts'
import type { Stores } from '../stores.ts'
import type { EngineSettings } from './settings.ts'

/** Configuration of an engine: the settings of its user, and what depends on where it runs. */
export interface EngineConfig extends EngineSettings {
  readonly home: 'embedded' | 'local' | 'server'
  /** Address of the engine's socket or port, shown in its status; null when embedded. */
  readonly listensOn?: string | null
  readonly pool?: Partial<PoolConfig>
  /** Whether windows can be shown (DISPLAY, WAYLAND_DISPLAY, or a desktop system). */
  readonly display: boolean
  /** Stores that replace the files of the state folder, where machines share them. */
  readonly stores?: Partial<Stores>
  /** Secret that encrypts the identities of crawls; by default the profile key, or one in the state folder. */
  readonly identityKey?: string
  /** Directory of the fleet that this engine is a worker of. */
  readonly bound?: BoundObjects
  /** Returns the ID of this worker in its fleet; undefined before its registration. */
  readonly workerId?: () => string | undefined
  /** Whether a command may write wherever the user can; false limits it to the session's download folder. */
  readonly writeAnywhere: boolean
  /**
   * Private ranges that the pages of a server may reach (`10.0.0.0/8`); other engines reach all. Cloud metadata
   * addresses are never reachable.
   */
  readonly allowPrivate?: readonly string[]
  /** Replacement for the system's host name lookup. */
  readonly lookup?: HostLookup
  /** Limits of callers; unlimited when absent. */
  readonly allowances?: Allowances
  /** Download quota of a session, in bytes; the default is in the limits. */
  readonly downloadBytes?: number
  /** Called when the engine is asked to stop; absent for a server that callers must not stop. */
  readonly onStop?: () => void
  readonly log: Log
}

export interface PoolConfig {
  /** Pages kept ready for the next sessions. */
  readonly warm: number
  readonly contextsPerBrowser: number
  /**
   * Maximum number of browser processes of one kind that a key uses; unresponsive ones do not count. Also limits the
   * sessions of all keys in browsers of one kind: `browsers` times `contextsPerBrowser`.
   */
  readonly browsers: number
  /** Maximum number of browser processes of one kind, of all keys. */
  readonly processes: number
  /** Number of processors that the browsers of keys share: those of this machine by default. */
  readonly cores: number
  /** Timing of the health check, in milliseconds. */
  readonly health: { readonly everyMs: number; readonly answerMs: number; readonly graceMs: number }
}

/** Resolves a host to all its addresses; rejects with Node's error codes such as `ENOTFOUND`. The signal cancels it. */
export type HostLookup = (
  host: string,
  signal?: AbortSignal,
) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** Writes one line with its facts to the engine's log. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>) => void

/** Log levels, most verbose first, and log formats. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]
