/** Settings, in order of precedence: flags, environment, project file, user file. */
import { systemReason } from '../core/errors/system-errors.ts'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import envPaths from 'env-paths'
import type { ModelConfig, PoolConfig, ShellConfig } from '../core/config/config.ts'
import type { SearchConfig } from '../core/config/search-providers.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { readRegularFile } from '../core/state/outside-files.ts'
import type { EngineState } from '../core/state/local-files.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import type { Io } from './io.ts'
import { readSearch } from '../core/config/search-settings.ts'
import { readShell } from './shell/settings.ts'

/** Flags that every command takes. */
export interface GlobalFlags {
  readonly server?: string
  readonly embedded?: boolean
  readonly stateDir?: string
  readonly browser?: string
  readonly json?: boolean
  readonly contentBoundaries?: boolean
}

export interface Settings {
  /** `http(s)://…` or `unix:/path`; absent for an engine on this machine. */
  readonly server?: string
  readonly apiKey?: string
  readonly embedded: boolean
  readonly stateDir: string
  readonly cacheDir: string
  readonly browser?: string
  readonly json: boolean
  /** Whether output that is text of pages is enclosed in markers. */
  readonly contentBoundaries: boolean
  /** Session of commands without a session flag: `BAX_SESSION`, or `session` of a settings file. */
  readonly session?: string
  /** Shell session of commands without a session flag: `BAX_SHELL`. */
  readonly shellSession?: string
  readonly shell?: ShellConfig
  readonly idleExitMs: number
  /** Maximum number of pages per crawl. */
  readonly crawlPages?: number
  readonly pool?: Partial<PoolConfig>
  readonly browserMemoryBytes?: number
  readonly model?: ModelConfig
  /** Whether json and summary formats work without a model. */
  readonly builtinExtractor: boolean
  readonly search?: SearchConfig
  /** Secret that encrypts saved profiles. */
  readonly profileKey?: string
  /** Key of the signatures of webhooks. */
  readonly webhookSecret?: string
}

const kinds = {
  server: 'string',
  api_key: 'string',
  state_dir: 'string',
  browser: 'string',
  json: 'boolean',
  content_boundaries: 'boolean',
  session: 'string',
  idle_exit_secs: 'number',
  crawl_pages: 'number',
  warm_pages: 'number',
  browser_memory_mb: 'number',
  builtin_extractor: 'boolean',
  model: 'object',
  search: 'object',
  shell: 'object',
  profile_key: 'string',
  webhook_secret: 'string',
} as const

interface KindTypes {
  readonly string: string
  readonly boolean: boolean
  readonly number: number
  readonly object: object
}

type SettingsFile = { readonly [Key in keyof typeof kinds]?: KindTypes[(typeof kinds)[Key]] } & {
  readonly model?: { readonly url?: string; readonly name?: string; readonly key?: string }
}

/**
 * Settings allowed in a project file. Such a file comes with code from others: a server would receive the user's API
 * key, and a path or program would be opened or run.
 */
const projectSettings: ReadonlySet<string> = new Set<keyof SettingsFile>(['json', 'session'])

/** Name of the project file, in the working folder or a folder above it. */
const projectFile = '.bax.json'

/** Reads all settings. @throws BaxError `invalid_request` for an invalid file or value */
export function readSettings(flags: GlobalFlags, io: Pick<Io, 'env' | 'cwd'>): Settings {
  const { env } = io
  const folders = envPaths('bax', { suffix: '' })
  const named = path(env['BAX_CONFIG'], io.cwd)
  const userPath = named ?? join(folders.config, 'config.json')
  const user = readFile(userPath)
  if (named !== undefined && !user)
    throw new BaxError('invalid_request', `BAX_CONFIG names a missing file: ${named}`, {
      hint: 'create the file, or unset BAX_CONFIG',
    })
  const file: SettingsFile = { ...user, ...readProjectFile(io.cwd, userPath) }
  const home = dirname(userPath)

  const server = flags.embedded ? undefined : flags.server || env['BAX_SERVER'] || file.server
  const apiKey = env['BAX_API_KEY'] || file.api_key
  const browser = path(flags.browser, io.cwd) ?? path(env['BAX_BROWSER'], io.cwd) ?? path(file.browser, home)
  const session = env['BAX_SESSION'] || file.session
  const model = readModel(env, file)
  const crawlPages = readWhole(env['BAX_CRAWL_PAGES'], file.crawl_pages, 'BAX_CRAWL_PAGES (crawl_pages in the file)')
  const browserMb = readWhole(env['BAX_BROWSER_MEMORY_MB'], file.browser_memory_mb, 'BAX_BROWSER_MEMORY_MB (browser_memory_mb in the file)') // prettier-ignore
  const search = readSearch(env, file.search)
  const shell = readShell(env, file.shell)
  const profileKey = env['BAX_PROFILE_KEY'] || file.profile_key
  const webhookSecret = env['BAX_WEBHOOK_SECRET'] || file.webhook_secret
  const idleSecs = env['BAX_IDLE_EXIT_SECS'] ? Number(env['BAX_IDLE_EXIT_SECS']) : file.idle_exit_secs
  if (idleSecs !== undefined && !(idleSecs > 0))
    throw new BaxError('invalid_request', 'BAX_IDLE_EXIT_SECS (idle_exit_secs in the file) must be a number above 0')
  return {
    ...(server && { server }),
    ...(apiKey && { apiKey }),
    embedded: flags.embedded ?? false,
    stateDir:
      path(flags.stateDir, io.cwd) ?? path(env['BAX_STATE_DIR'], io.cwd) ?? path(file.state_dir, home) ?? folders.data,
    cacheDir: path(env['BAX_CACHE_DIR'], io.cwd) ?? folders.cache,
    ...(browser && { browser }),
    json: flags.json ?? file.json ?? false,
    contentBoundaries:
      flags.contentBoundaries ??
      readSwitch(env['BAX_CONTENT_BOUNDARIES'], 'BAX_CONTENT_BOUNDARIES') ??
      file.content_boundaries ??
      false,
    ...(session && { session }),
    ...(env['BAX_SHELL'] && { shellSession: env['BAX_SHELL'] }),
    ...(shell && { shell }),
    idleExitMs: idleSecs === undefined ? limits.engine.idleExitMs : idleSecs * 1000,
    ...(crawlPages !== undefined && { crawlPages }),
    ...(browserMb !== undefined && { browserMemoryBytes: browserMb * 1024 * 1024 }),
    ...(file.warm_pages !== undefined && { pool: { warm: file.warm_pages } }),
    ...(model && { model }),
    builtinExtractor:
      readSwitch(env['BAX_BUILTIN_EXTRACTOR'], 'BAX_BUILTIN_EXTRACTOR') ?? file.builtin_extractor ?? true,
    ...(search && { search }),
    ...(profileKey && { profileKey: checkedProfileKey(profileKey, 'BAX_PROFILE_KEY (profile_key in the file)') }),
    ...(webhookSecret && { webhookSecret }),
  }
}

/** Checks if a running engine was started with the same browser setting. */
export const sameBrowser = ({ browser }: Settings, running: EngineState): boolean => browser === running.browser

const path = (text: string | undefined, base: string) => (text ? resolve(base, text) : undefined)

function readWhole(text: string | undefined, configured: number | undefined, name: string): number | undefined {
  const value = text ? Number(text) : configured
  if (value === undefined || (Number.isInteger(value) && value > 0)) return value
  throw new BaxError('invalid_request', `${name} must be a whole number above 0`)
}

/** Returns the key if it is long enough. @throws BaxError `invalid_request` */
export function checkedProfileKey(key: string, name: string): string {
  if (key.length >= limits.profileKeyChars) return key
  throw new BaxError('invalid_request', `${name} must have at least ${limits.profileKeyChars} characters`, {
    hint: 'create one with "openssl rand -base64 32"',
  })
}

function readSwitch(text: string | undefined, name: string): boolean | undefined {
  if (!text) return undefined
  if (/^(?:on|true|1|yes)$/i.test(text)) return true
  if (/^(?:off|false|0|no)$/i.test(text)) return false
  throw new BaxError('invalid_request', `${name} must be on or off, not ${JSON.stringify(text)}`)
}

function readModel(env: Io['env'], file: SettingsFile): ModelConfig | undefined {
  const url = env['BAX_MODEL_URL'] || file.model?.url
  const name = env['BAX_MODEL'] || file.model?.name
  const key = env['BAX_MODEL_KEY'] || file.model?.key
  if (!url && !name) return undefined
  if (!url || !name)
    throw new BaxError(
      'invalid_request',
      'a model needs both BAX_MODEL_URL and BAX_MODEL (model.url and model.name in the file)',
    )
  return { url, name, ...(key && { key }) }
}

function readProjectFile(cwd: string, userPath: string): SettingsFile | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, projectFile)
    // A checkout may contain a link to a device or a pipe. The user's own file may be one.
    const found =
      path === userPath ? undefined : readFile(path, (file) => readRegularFile(file, limits.projectFileBytes))
    if (found) {
      const forbidden = Object.keys(found).find((key) => !projectSettings.has(key))
      if (forbidden)
        throw new BaxError('invalid_request', `${path} must not set ${forbidden}: a project file may set only ${[...projectSettings].join(' and ')}`, { hint: 'set it in your own settings file, in the environment or with a flag' }) // prettier-ignore
      return found
    }
    if (dirname(folder) === folder) return undefined
  }
}

function readFile(path: string, read: (path: string) => Buffer = readFileSync): SettingsFile | undefined {
  let text: string
  try {
    text = read(path).toString()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new BaxError('invalid_request', `cannot read ${path}: ${systemReason(error as Error)}`, { cause: error })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BaxError('invalid_request', `${path} is not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BaxError('invalid_request', `${path} must hold a JSON object`)
  for (const [key, given] of Object.entries(value)) {
    if (!Object.hasOwn(kinds, key))
      throw new BaxError('invalid_request', `${path}: unknown setting ${key}${didYouMean(key, Object.keys(kinds))}`)
    const kind = kinds[key as keyof typeof kinds]
    if (typeof given !== kind || given === null)
      throw new BaxError('invalid_request', `${path}: ${key} must be ${kind === 'object' ? 'an object' : `a ${kind}`}`)
  }
  return value
}
