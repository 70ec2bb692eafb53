import type { Allowances } from '../access/quota.ts'
import type { BoundObjects } from '../fleet.ts'
import type { Stores } from '../stores.ts'
import type { SearchConfig } from './search-providers.ts'

/** Configuration of an engine, which the CLI reads from flags, environment and files. */
export interface EngineConfig {
  readonly home: 'embedded' | 'local' | 'server'
  /** Private folder (0700) for profiles, logs and the local engine's socket. */
  readonly stateDir: string
  /** Folder for files that can be downloaded again, such as a browser. */
  readonly cacheDir: string
  /** Browser executable to use instead of looking for one. */
  readonly browser?: string
  /** Address of the engine's socket or port, shown in its status; null when embedded. */
  readonly listensOn?: string | null
  readonly pool?: Partial<PoolConfig>
  /** Whether windows can be shown (DISPLAY, WAYLAND_DISPLAY, or a desktop system). */
  readonly display: boolean
  /** Stores that replace the files of the state folder, where machines share them. */
  readonly stores?: Partial<Stores>
  /** Directory of the fleet that this engine is a worker of. */
  readonly bound?: BoundObjects
  /** Returns the ID of this worker in its fleet; undefined before its registration. */
  readonly workerId?: () => string | undefined
  /** Secret to encrypt saved profiles with; without it they are plain files. */
  readonly profileKey?: string
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
  /** Maximum number of pages of a crawl; a server's default is in the limits, other engines have none. */
  readonly crawlPages?: number
  /** Memory that the browsers of one key may use, in bytes; half of that of the machine by default. */
  readonly browserMemoryBytes?: number
  /** Key of the signatures of webhooks whose request has none. */
  readonly webhookSecret?: string
  /** An OpenAI-compatible endpoint for structured extraction and summaries. */
  readonly model?: ModelConfig
  /** False disables the heuristics: without a model there is no json and no summary. */
  readonly builtinExtractor?: boolean
  readonly search?: SearchConfig
  /** How to create the containers of shell sessions. */
  readonly shell?: ShellConfig
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

export interface ShellConfig {
  /** Address as in DOCKER_HOST; undefined tries the default sockets. */
  readonly dockerHost?: string
  /** Folder with `ca.pem`, `cert.pem`, `key.pem` for a `tcp://` address (DOCKER_CERT_PATH). */
  readonly dockerCertPath?: string
  /** The user's folder for sockets (XDG_RUNTIME_DIR), used by rootless Docker and Podman. */
  readonly runtimeDir?: string
  /** Socket of the user's ssh agent (SSH_AUTH_SOCK), for an `ssh://` address. */
  readonly sshAgent?: string
  /** Images that sessions may use; undefined allows every local one. */
  readonly images?: readonly string[]
  /** Containers of a previously requested kind to keep running for the next session. */
  readonly warm?: number
}

export interface ModelConfig {
  readonly url: string
  readonly name: string
  readonly key?: string
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
