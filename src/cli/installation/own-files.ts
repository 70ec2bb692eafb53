/** Files and folders of a user that bax created, for `bax uninstall`. */
import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import envPaths from 'env-paths'
import { BaxError } from '../../core/errors/errors.ts'
import { systemCode } from '../../core/errors/system-errors.ts'
import type { Context } from '../context.ts'
import { installationOf } from './installation.ts'
import { hasServer } from '../mcp/install/edits.ts'
import { foldersOf, mcpHosts } from '../mcp/install/hosts.ts'

export interface OwnFile {
  readonly title: string
  readonly path: string
  /** Size of all its files, in bytes. */
  readonly bytes: number
}

/**
 * Returns what exists of the caches and, without `keepData`, of the data and the settings. A file that `BAX_CONFIG` names
 * belongs to the user.
 * @throws BaxError `not_empty` if one of the folders contains other things of the user
 */
export async function ownFiles({ settings, io }: Context, keepData: boolean): Promise<readonly OwnFile[]> {
  const { config } = envPaths('bax', { suffix: '' })
  const all = [
    { title: 'browsers and caches', path: settings.cacheDir },
    ...(keepData
      ? []
      : [
          { title: 'sessions, profiles, keys, crawls and logs', path: settings.stateDir },
          { title: 'settings', path: join(config, 'config.json') },
        ]),
  ]
  const found = all.filter(({ path }) => existsSync(path))
  for (const { path } of found) await assertOwn(path, [homedir(), io.cwd, installationOf(io).path])
  return Promise.all(found.map(async (one) => ({ ...one, bytes: await sizeOf(one.path) })))
}

/** Protects folders that a setting names by mistake, such as a home folder. */
async function assertOwn(path: string, others: readonly string[]): Promise<void> {
  const isShared = ((await lstat(path)).mode & 0o1000) !== 0
  const inside = others.find((other) => !/^\.\.(?:$|[\\/])/.test(relative(path, other)))
  if (!isShared && inside === undefined) return
  const why = inside === undefined ? 'it is shared by all users' : `it contains ${inside}`
  throw new BaxError('not_empty', `${path} is not removed: ${why}`, {
    hint: 'run the command in another folder, or check --state-dir, BAX_STATE_DIR and BAX_CACHE_DIR',
  })
}

async function sizeOf(path: string): Promise<number> {
  const facts = await lstat(path)
  if (!facts.isDirectory()) return facts.size
  const sizes = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Removes them, and the folder of the settings if it is empty now. */
export async function removeFiles(files: readonly OwnFile[]): Promise<void> {
  for (const { path } of files) await rm(path, { recursive: true, force: true })
  const { config } = envPaths('bax', { suffix: '' })
  if (!files.some(({ path }) => dirname(path) === config)) return
  await rmdir(config).catch((error: unknown) => {
    // On macOS, data and settings are in one folder.
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) throw error
  })
}

/** Returns the settings files of other programs in which `bax mcp install` has added bax. */
export async function filesWithServer({ io }: Context): Promise<readonly string[]> {
  const folders = foldersOf(io)
  const hosts = Object.values(mcpHosts).filter((host) => existsSync(host.file(folders)))
  const found = await Promise.all(
    hosts.map(async (host) => {
      const file = host.file(folders)
      return (await hasServer(host, await readFile(file, 'utf8'))) ? [file] : []
    }),
  )
  return found.flat()
}
