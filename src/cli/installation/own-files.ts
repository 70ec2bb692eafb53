/** Files and folders of a user that bax created, for `bax uninstall`. */
import { existsSync } from 'node:fs'
import { lstat, readdir, readFile, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import envPaths from 'env-paths'
import { BaxError } from '../../core/errors/errors.ts'
import { systemCode } from '../../core/errors/system-errors.ts'
import { queryLock } from '../../core/process/process-lock.ts'
import { localFiles } from '../../core/state/local-files.ts'
import { isInside } from '../../core/state/outside-files.ts'
import { cacheNames, isOwnName, type OwnNames, stateNames } from '../../core/state/own-names.ts'
import { stateLock } from '../../core/state/state-dir.ts'
import type { Context } from '../context.ts'
import { installationOf } from './installation.ts'
import { hasServer } from '../mcp/install/edits.ts'
import { backupOf, foldersOf, mcpHosts } from '../mcp/install/hosts.ts'

interface Place {
  readonly title: string
  readonly path: string
  /** Its path where no setting names another one. */
  readonly usual: string
  readonly names?: OwnNames
}

export interface OwnFile {
  readonly title: string
  readonly path: string
  /** Path that `path` leads to after links. */
  readonly target: string
  /** Names of what bax creates in the folder, if it may have other files, too; else it is removed as a whole. */
  readonly names?: OwnNames
  /** Size of all files that are removed, in bytes. */
  readonly bytes: number
}

const ownPaths = () => envPaths('bax', { suffix: '' })

/**
 * Returns what exists of the caches and, without `keepData`, of the data and the settings. A file that `BAX_CONFIG` names
 * belongs to the user, and so do the other files in a folder that a setting names.
 * @throws BaxError `not_empty` if one of the folders contains other things of the user, or data to keep
 */
export async function ownFiles({ settings, io }: Context, keepData: boolean): Promise<readonly OwnFile[]> {
  const { config, data, cache } = ownPaths()
  const caches: Place = { title: 'browsers and caches', path: settings.cacheDir, usual: cache, names: cacheNames }
  const settingsFile = join(config, 'config.json')
  const kept: readonly Place[] = [
    {
      title: 'sessions, profiles, keys, crawls and logs',
      path: settings.stateDir,
      usual: data,
      names: stateNames,
    },
    { title: 'settings', path: settingsFile, usual: settingsFile },
  ]
  const all = (keepData ? [caches] : [caches, ...kept]).filter(({ path }) => existsSync(path))
  const others = [homedir(), io.cwd, installationOf(io).path, ...(keepData ? kept.map(({ path }) => path) : [])]
  for (const { path } of all) await assertOwn(path, others)
  return (await Promise.all(all.map(fileOf))).flat()
}

/** Protects folders that a setting names by mistake, such as a home folder. */
async function assertOwn(path: string, others: readonly string[]): Promise<void> {
  const isShared = ((await stat(path)).mode & 0o1000) !== 0
  const within = await Promise.all(others.map((other) => isInside(path, other)))
  const inside = others.find((_, index) => within[index])
  if (!isShared && inside === undefined) return
  const why = inside === undefined ? 'it is shared by all users' : `it contains ${inside}`
  throw new BaxError('not_empty', `${path} is not removed: ${why}`, {
    hint: 'run the command in another folder, or check --state-dir, BAX_STATE_DIR and BAX_CACHE_DIR',
  })
}

/** Returns the folder or file; nothing for a folder in which bax has created nothing. */
async function fileOf({ title, path, usual, names }: Place): Promise<OwnFile[]> {
  const target = await realpath(path)
  const isOwn = !names || (path === usual && !(await lstat(path)).isSymbolicLink())
  if (isOwn) return [{ title, path, target, bytes: await sizeOf(target) }]
  const sizes = await Promise.all((await entriesIn(target, names)).map(sizeOf))
  return sizes.length === 0 ? [] : [{ title, path, target, names, bytes: sum(sizes) }]
}

/** Returns the paths of what bax has created in a folder. */
async function entriesIn(folder: string, names: OwnNames): Promise<string[]> {
  const found = Object.entries(names).map(async ([below, pattern]) => {
    const inside = await namesIn(join(folder, below))
    return inside.filter((name) => isOwnName(name, pattern)).map((name) => join(folder, below, name))
  })
  return (await Promise.all(found)).flat()
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return []
    throw error
  })

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0)

async function sizeOf(path: string): Promise<number> {
  const facts = await lstat(path)
  if (!facts.isDirectory()) return facts.size
  return sum(await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name)))))
}

/**
 * Checks for an engine that could not be stopped, such as one that is starting: it would write to the folder again.
 * @throws BaxError `conflict` while a local engine holds the state folder
 */
export async function assertUnused({ settings, io }: Context): Promise<void> {
  if (!existsSync(localFiles(settings.stateDir).lockKey)) return
  const { held } = await queryLock(await stateLock(settings.stateDir, io.host), io.signal)
  if (!held) return
  throw new BaxError('conflict', `a local engine that cannot be stopped uses ${settings.stateDir}`, {
    hint: 'end its process ("bax engine run"), and repeat the command',
  })
}

/** Removes them, and the folder of the settings if it is empty now; returns what stays in their folders. */
export async function removeFiles(files: readonly OwnFile[]): Promise<readonly string[]> {
  const { config } = ownPaths()
  for (const { path, target, names } of files) {
    for (const entry of names ? await entriesIn(target, names) : [target])
      await rm(entry, { recursive: true, force: true })
    for (const below of Object.keys(names ?? {})) await removeIfEmpty(join(target, below))
    // A link to it leads nowhere now.
    if (!existsSync(target)) await rm(path, { force: true })
  }
  // On macOS, data and settings are in one folder.
  if (files.some(({ path }) => dirname(path) === config)) await removeIfEmpty(config)
  const left = files.map(async ({ target }) => (await namesIn(target)).map((name) => join(target, name)))
  return [...new Set((await Promise.all(left)).flat())]
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw error
  })
}

/** Returns files that bax has created elsewhere: copies by `bax mcp install`, and the key that `BAX_BOT_KEY_FILE` names. */
export function filesElsewhere({ settings, io }: Context): readonly string[] {
  const folders = foldersOf(io)
  const copies = Object.values(mcpHosts).map((host) => backupOf(host.file(folders)))
  return [...copies, ...(settings.botKeyFile === undefined ? [] : [settings.botKeyFile])].filter((path) =>
    existsSync(path),
  )
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
