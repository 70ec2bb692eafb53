import type { Allowances } from '../access/quota.ts'
import type { SearchProviderName } from './search-providers.ts'

/** What an engine is told when it is made; read from flags, environment and files by the terminal's floor. */
export interface EngineConfig {
  readonly home: 'embedded' | 'local' | 'server'
  /** Private folder (0700) for profiles, logs and the local engine's socket. */
  readonly stateDir: string
  /** Folder for what can be fetched again, such as a browser. */
  readonly cacheDir: string
  /** Browser executable to use instead of looking for one. */
  readonly browser?: string
  /** Address of the socket or port that the engine is reached by, for its status; null when embedded. */
  readonly listensOn?: string | null
  readonly pool?: Partial<PoolConfig>
  /** Whether a window can be shown (DISPLAY, WAYLAND_DISPLAY, or a desktop system). */
  readonly display: boolean
  /** Secret that saved profiles are encrypted with; without it they are plain files. */
  readonly profileKey?: string
  /** Whether a command may write anywhere the user can; false keeps it inside the session's download folder. */
  readonly writeAnywhere: boolean
  /**
   * Ranges beyond the public internet that a server's pages may reach (`10.0.0.0/8`); other engines reach all. Nobody
   * reaches the addresses where clouds hand out secrets.
   */
  readonly allowPrivate?: readonly string[]
  /** Resolves the names of hosts in place of the system. */
  readonly lookup?: HostLookup
  /** What each caller may have at a time; without it there are no bounds. */
  readonly allowances?: Allowances
  /** Bytes that the pages of one session may download; the default is in the limits. */
  readonly downloadBytes?: number
  /** Pages of one crawl at most; a server's default is in the limits, other engines have none. */
  readonly crawlPages?: number
  /** An OpenAI-compatible endpoint for structured extraction and summaries. */
  readonly model?: ModelConfig
  /** False: without the model there is no json and no summary; the rules do not stand in for it. */
  readonly builtinExtractor?: boolean
  readonly search?: SearchConfig
  /** How shell sessions get their containers. */
  readonly shell?: ShellConfig
  /** Called when the engine is asked to stop; a server that is not ours to stop leaves it out. */
  readonly onStop?: () => void
  readonly log: Log
}

export interface PoolConfig {
  /** Ready pages kept waiting for the next sessions. */
  readonly warm: number
  readonly contextsPerBrowser: number
  /** Browser processes of one kind at most; those that do not answer are not counted. */
  readonly browsers: number
  /** Times of the health check, in milliseconds. */
  readonly health: { readonly everyMs: number; readonly answerMs: number; readonly graceMs: number }
}

export interface ShellConfig {
  /** Address as in DOCKER_HOST; undefined looks at the usual sockets. */
  readonly dockerHost?: string
  /** Folder with `ca.pem`, `cert.pem`, `key.pem` for a `tcp://` address (DOCKER_CERT_PATH). */
  readonly dockerCertPath?: string
  /** The user's folder for sockets (XDG_RUNTIME_DIR), where rootless Docker and Podman listen. */
  readonly runtimeDir?: string
  /** Socket of the user's ssh agent (SSH_AUTH_SOCK), for an `ssh://` address. */
  readonly sshAgent?: string
  /** Images that sessions may use; undefined allows every local one. */
  readonly images?: readonly string[]
  /** Containers of a kind that was asked for before, kept running for the next session. */
  readonly warm?: number
}

export interface ModelConfig {
  readonly url: string
  readonly name: string
  readonly key?: string
}

export interface SearchConfig {
  /** Providers in the order in which they are asked; without it all that are set up, in the order of their list. */
  readonly order?: readonly SearchProviderName[]
  readonly providers?: Readonly<Partial<Record<SearchProviderName, SearchAccess>>>
}

/** How a search provider is reached. */
export interface SearchAccess {
  /** Its address, where it is not the usual one. */
  readonly url?: string
  readonly key?: string
  /** Identifier of a Google search engine. */
  readonly cx?: string
}

/** All addresses of a host; rejects with Node's `ENOTFOUND` and the like. */
export type HostLookup = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** One line of the engine's log with its facts. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>) => void
