/** Deletes, copies, moves and creates files in a session. */
import { ContainerError } from '../container.ts'
import type { ContainerFiles } from '../interface.ts'
import { onPath } from './errors.ts'
import type { FileWork } from './file-work.ts'
import { entryOf } from './listing.ts'
import { type ResolvedPath, resolvePath } from './paths.ts'

export const deleteFile: FileWork<'delete'> = async (files, input) => {
  const { shown, bytes } = resolvePath(input.path, input.path_b64)
  return onPath(shown.path, async () => {
    try {
      return { ...shown, deleted: await files.remove(bytes, { recursive: input.recursive }) }
    } catch (error) {
      const isGone = error instanceof ContainerError && error.code === 'ENOENT'
      if (isGone && input.missing_ok) return { ...shown, deleted: 0 }
      throw error
    }
  })
}

export const copyFile: FileWork<'copy'> = async (files, input) => {
  const { source, destination } = pathsOf(input)
  const { overwrite, recursive } = input
  const result = await onPair(files, source, destination, () =>
    files.copy(source.bytes, destination.bytes, { overwrite, recursive }),
  )
  return { source: source.shown.path, destination: destination.shown.path, ...result }
}

export const moveFile: FileWork<'move'> = async (files, input) => {
  const { source, destination } = pathsOf(input)
  const facts = await onPair(files, source, destination, () =>
    files.move(source.bytes, destination.bytes, { overwrite: input.overwrite }),
  )
  return {
    source: source.shown.path,
    destination: destination.shown.path,
    entry: entryOf(facts, destination.bytes),
  }
}

export const makeFolder: FileWork<'mkdir'> = async (files, input) => {
  const { shown, bytes } = resolvePath(input.path, input.path_b64)
  const options = { parents: input.parents, mode: Number.parseInt(input.mode, 8) }
  const created = await onPath(shown.path, () => files.mkdir(bytes, options))
  return { ...shown, created }
}

const pathsOf = (input: Parameters<FileWork<'copy' | 'move'>>[1]) => ({
  source: resolvePath(input.source, input.source_b64),
  destination: resolvePath(input.destination, input.destination_b64),
})

/** Error codes that concern the destination rather than the source. */
const aboutDestination: ReadonlySet<string> = new Set(['EEXIST', 'ENOSPC', 'EDQUOT', 'ENOTEMPTY', 'EROFS', 'ENOMEM'])

/** Reports an error with the path that caused it. */
async function onPair<T>(
  files: ContainerFiles,
  source: ResolvedPath,
  destination: ResolvedPath,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    const isSource = !aboutDestination.has(error.code) && (error.code !== 'ENOENT' || !(await exists(files, source)))
    const { path } = (isSource ? source : destination).shown
    return onPath(path, () => Promise.reject(error), {
      ENOENT: isSource ? 'does not exist' : 'is in a directory that does not exist',
      ELOOP: 'cannot be placed inside itself',
      EISDIR: 'is a directory: set recursive to copy it',
    })
  }
}

async function exists(files: ContainerFiles, { bytes }: ResolvedPath): Promise<boolean> {
  try {
    await files.info(bytes)
    return true
  } catch (error) {
    if (error instanceof ContainerError) return false
    throw error
  }
}
