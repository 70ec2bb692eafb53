/** Files that commands of a session write and upload: in the session's folder, or anywhere if the engine allows it. */
import { existsSync, statSync } from 'node:fs'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import type { FilesToUpload } from '../../../core/operation/files-to-upload.ts'
import type { FileSource, SessionFile } from '../../../core/shapes/session-files.ts'
import { writeAtomic } from '../../../core/state/files.ts'
import { filesBelow } from '../../../core/state/folder-files.ts'
import { type FileStore, uploadFolder } from './file-store.ts'

/** Returns the folder for a session's files, below a folder that is removed with its browser. */
export const downloadFolder = (parent: string, key: string): string => join(parent, 'downloads', key)

/** Folder for running downloads, in the folder of the session's files. */
export const incomingFolder = '.incoming'

/** File access of a session. */
interface Reach {
  /** Whether absolute paths are files of the caller, on the same machine. */
  readonly writeAnywhere: boolean
  readonly files: FileStore
}

/** Folders of uploads, and of running downloads from a browser of the caller. */
const reservedFolders = new Set([uploadFolder, incomingFolder])

/** Resolves a path in the session's folder. @throws BaxError `invalid_data` for one that leads outside. */
export function pathInside({ folder }: FileStore, path: string): string {
  const target = resolve(folder, path)
  const inside = relative(folder, target)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new BaxError('invalid_data', `files are written below the session's download folder only, not at ${path}`, {
      hint: 'use a relative path',
    })
  }
  if (reservedFolders.has(inside.split(sep, 1)[0]!)) {
    throw new BaxError('invalid_data', `the session uses this folder itself: ${path}`, { hint: 'use another name' })
  }
  return target
}

/**
 * Resolves a path that a CDP client uploads: of this machine if the client may read it, else of a file in the session's
 * folder, by its last part, since the libraries turn a name into a path of their own machine. @throws BaxError `invalid_data`.
 */
export function clientUpload({ writeAnywhere, files }: Reach, path: string): string {
  if (writeAnywhere && isAbsolute(path) && existsSync(path)) return path
  const name = basename(path.replaceAll('\\', '/'))
  const own = files.pathOf(name)
  if (own !== undefined) return own
  // Errors of the protocol have no hint.
  const message = `the session has no file ${JSON.stringify(name)} to upload: send it to /sessions/{id}/files first`
  throw new BaxError('invalid_data', message)
}

/** Reasons why a path cannot name a file, by error code. */
const impossible: Record<string, string> = {
  ERR_INVALID_ARG_VALUE: 'a path must not contain a NUL character',
  ENAMETOOLONG: 'the path, or a name in it, is too long',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'a part of the path is a file, not a folder',
  EISDIR: 'a folder with that name exists',
}

/**
 * Writes a file: at an absolute path if the engine allows it, else to the session's files. Returns the absolute path, or
 * on a server the name of the file. @throws BaxError `invalid_data`, `no_space`.
 */
export async function saveFile(
  { writeAnywhere, files }: Reach,
  path: string,
  bytes: Uint8Array,
  source: FileSource,
): Promise<string> {
  const isOutside = writeAnywhere && isAbsolute(path)
  const target = isOutside ? resolve(path) : pathInside(files, path)
  const name = files.nameAt(target)
  if (!isOutside) files.checkRoom(name, bytes.length)
  try {
    await writeAtomic(target, bytes)
  } catch (error) {
    const why = impossible[(error as NodeJS.ErrnoException).code ?? '']
    if (why === undefined) throw error
    throw new BaxError('invalid_data', `cannot save a file at ${path}: ${why}`, { cause: error })
  }
  if (!isOutside) files.add(name, { path: target, size: bytes.length, source })
  return writeAnywhere ? target : name
}

/** A file to upload. */
interface Found {
  readonly path: string
  /** As the page sees it, with the path from its folder on. */
  readonly name: string
  /** Local folder that it is from. */
  readonly folder?: string
}

/** Finds files to upload: of the session by their names, or local ones and folders if the engine allows it. */
export function filesToUpload(reach: Reach, names: readonly string[]): FilesToUpload {
  const found = names.flatMap((name) => findUpload(reach, name))
  const inFolders = found.filter(({ name }) => name.includes('/'))
  const roots = new Set(inFolders.map(({ name, folder }) => folder ?? name.slice(0, name.indexOf('/'))))
  return {
    paths: found.map(({ path }) => path),
    names: found.map(({ name }) => name),
    folders: roots.size,
    single: found.length - inFolders.length,
    arrange: async () => [
      ...new Set(inFolders.flatMap(({ folder }) => folder ?? [])),
      ...(await reach.files.arrange(inFolders.filter(({ folder }) => folder === undefined))),
      ...found.filter(({ name }) => !name.includes('/')).map(({ path }) => path),
    ],
  }
}

function findUpload({ writeAnywhere, files }: Reach, path: string): Found | Found[] {
  const own = files.findFile(path) ?? uploadsBelow(files, path)
  if (own) return own
  if (writeAnywhere && isAbsolute(path)) {
    if (!existsSync(path)) throw new BaxError('invalid_data', `the file to upload does not exist: ${path}`)
    if (!statSync(path).isDirectory()) return { path, name: basename(path) }
    return filesBelow(path, 'invalid_data').map((file) => ({ ...file, folder: path }))
  }
  throw new BaxError('invalid_data', `the session has no file ${JSON.stringify(path)} to upload`, {
    hint: `upload it with "bax session upload"${writeAnywhere ? ', or use an absolute path' : ''}`,
  })
}

/** Returns the uploads in a folder of the session, of each path the latest one; undefined if there are none. */
function uploadsBelow(files: FileStore, folder: string): Found[] | undefined {
  const start = `${folder.replace(/\/+$/, '')}/`
  const isInside = ({ name, source }: SessionFile) => source === 'upload' && name.startsWith(start)
  const found = files.list().filter(isInside)
  const latest = new Map(found.map(({ name }) => files.findFile(name)!).map((file) => [file.name, file]))
  return latest.size === 0 ? undefined : [...latest.values()]
}
