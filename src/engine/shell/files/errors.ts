/** Translates errors of the system in the container to codes and messages of the API. */
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { ContainerError } from '../container.ts'
import type { FileFacts } from '../container-files.ts'
import type { ContainerFiles } from '../interface.ts'
import type { ResolvedPath } from './paths.ts'

const codes: Record<string, readonly [code: ErrorCode, message: string]> = {
  ENOENT: ['file_not_found', 'does not exist'],
  ENOTDIR: ['not_a_directory', 'is not a directory, or one of its parents is not'],
  EISDIR: ['is_a_directory', 'is a directory'],
  ENXIO: ['not_a_file', 'is not a regular file'],
  EACCES: ['permission_denied', 'cannot be accessed'],
  EPERM: ['permission_denied', 'cannot be changed'],
  EROFS: ['permission_denied', 'is in a read-only folder'],
  ETXTBSY: ['permission_denied', 'is a running program'],
  EBUSY: ['protected_path', 'is protected: it belongs to the container'],
  EEXIST: ['already_exists', 'already exists'],
  ENOTEMPTY: ['not_empty', 'is not empty'],
  ENOSPC: ['no_space', 'does not fit: the disk of the session is full, or its limit of files is reached'],
  EDQUOT: ['no_space', 'does not fit: the disk of the session is full'],
  EFBIG: ['no_space', 'is too large for the disk of the session'],
  ENOMEM: ['no_space', 'does not fit: the memory of the session is exhausted'],
  ENAMETOOLONG: ['invalid_request', 'is too long'],
  ELOOP: ['invalid_request', 'has too many levels of symbolic links'],
  EINVAL: ['unsupported', 'does not support this operation'],
}

const hints: Partial<Record<ErrorCode, string>> = {
  no_space:
    'delete files, or create a session with higher limits (workspace_mb and workspace_files, or those of the other folders)',
  not_empty: 'set recursive to delete a directory with its contents',
  already_exists: 'set overwrite to replace it',
}

/** Runs work on a path; errors of the container become errors about this path. */
export async function onPath<T>(
  shown: string,
  work: () => Promise<T>,
  messages: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    const [code, standard] = codes[error.code] ?? ['unsupported', `could not be used (${error.code})`]
    const hint = hints[code]
    throw new BaxError(code, `${JSON.stringify(shown)} ${messages[error.code] ?? standard}`, {
      cause: error,
      ...(hint && { hint }),
      details: { path: shown },
    })
  }
}

/** Returns the facts of a directory, following links. @throws BaxError `not_a_directory`. */
export async function folderFacts(files: ContainerFiles, { bytes, shown }: ResolvedPath): Promise<FileFacts> {
  const facts = await files.info(bytes, { follow: true })
  if (facts.type === 'directory') return facts
  throw new BaxError('not_a_directory', `${JSON.stringify(shown.path)} is not a directory`)
}
