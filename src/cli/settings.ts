/** Settings, in order of precedence: flags, environment, project file, user file. */
import { systemReason, systemCode } from '../core/errors/system-errors.ts'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import envPaths from 'env-paths'
import {
  fileSettings,
  type GlobalFlags,
  projectSettings,
  type Settings,
  settingsFrom,
} from '../core/config/settings.ts'
import { proxiesDigest } from '../core/config/proxy-settings.ts'
import { BaxError, messageOf } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { readRegularFile } from '../core/state/outside-files.ts'
import type { EngineState } from '../core/state/local-files.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import type { Io } from './io.ts'

type SettingsFile = Readonly<Record<string, unknown>>

/** Name of the project file, in the working folder or a folder above it. */
const projectFile = '.bax.json'

/** Reads all settings. @throws BaxError `invalid_request` for an invalid file or value */
export function readSettings(flags: GlobalFlags, io: Pick<Io, 'env' | 'cwd'>): Settings {
  if (flags.server && flags.embedded)
    throw new BaxError('invalid_request', '--server and --embedded exclude each other', {
      hint: 'leave out --embedded to use the server',
    })
  const env = flags.noProxy ? { ...io.env, BAX_NO_PROXY: 'on' } : io.env
  const folders = envPaths('bax', { suffix: '' })
  const named = env['BAX_CONFIG'] ? resolve(io.cwd, env['BAX_CONFIG']) : undefined
  const userPath = named ?? join(folders.config, 'config.json')
  const user = readFile(userPath)
  if (named !== undefined && !user)
    throw new BaxError('invalid_request', `BAX_CONFIG names a missing file: ${named}`, {
      hint: 'create the file, or unset BAX_CONFIG',
    })
  const file = { ...user, ...readProjectFile(io.cwd, userPath) }
  const { server, ...rest } = settingsFrom({ flags, env, file, cwd: io.cwd, home: dirname(userPath), folders })
  return server === undefined || rest.embedded ? rest : { ...rest, server }
}

/** Checks if a running engine was started with the same browser setting. */
export const sameBrowser = ({ browser }: Settings, running: EngineState): boolean => browser === running.browser

/** Checks if a running engine was started with the same proxies. */
export const sameProxies = ({ proxies }: Settings, running: Pick<EngineState, 'proxies'>): boolean =>
  proxiesDigest(proxies) === running.proxies

function readProjectFile(cwd: string, userPath: string): SettingsFile | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, projectFile)
    // A checkout may contain a link to a device or a pipe. The user's own file may be one.
    const found =
      path === userPath ? undefined : readFile(path, (file) => readRegularFile(file, limits.projectFileBytes))
    if (found) {
      const forbidden = Object.keys(found).find((key) => !projectSettings.includes(key))
      if (forbidden)
        throw new BaxError(
          'invalid_request',
          `${path} must not set ${forbidden}: a project file may set only ${projectSettings.join(' and ')}`,
          { hint: 'set it in your own settings file, in the environment or with a flag' },
        )
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
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new BaxError('invalid_request', `cannot read ${path}: ${systemReason(error)}`, { cause: error })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BaxError('invalid_request', `${path} is not JSON: ${messageOf(error)}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BaxError('invalid_request', `${path} must hold a JSON object`)
  for (const [key, given] of Object.entries(value)) {
    const kind = fileSettings.get(key)
    if (kind === undefined)
      throw new BaxError('invalid_request', `${path}: unknown setting ${key}${didYouMean(key, fileSettings.keys())}`)
    if (typeof given !== kind || given === null)
      throw new BaxError('invalid_request', `${path}: ${key} must be ${kind === 'object' ? 'an object' : `a ${kind}`}`)
  }
  return value as SettingsFile
}
