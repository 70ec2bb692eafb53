/** What the system in the container refused, in the codes and words of the API. */
import { BaxError, type ErrorCode } from '../../../core/errors/errors.ts'
import { ContainerFault } from '../container.ts'

const codes: Record<string, readonly [code: ErrorCode, message: string]> = {
  ENOENT: ['file_not_found', 'does not exist'],
  ENOTDIR: ['not_a_directory', 'is not a directory, or a part of it is none'],
  EISDIR: ['is_a_directory', 'is a directory'],
  ENXIO: ['not_a_file', 'is not a regular file'],
  EACCES: ['permission_denied', 'may not be accessed'],
  EPERM: ['permission_denied', 'may not be changed'],
  EROFS: ['permission_denied', 'lies in a folder that is read-only'],
  ETXTBSY: ['permission_denied', 'is a program that runs'],
  EBUSY: ['protected_path', 'belongs to the container and stays'],
  EEXIST: ['already_exists', 'exists already'],
  ENOTEMPTY: ['not_empty', 'is not empty'],
  ENOSPC: ['no_space', 'does not fit: the disk of the session is full, or has as many files as it may have'],
  EDQUOT: ['no_space', 'does not fit: the disk of the session is full'],
  EFBIG: ['no_space', 'is too large for the disk of the session'],
  ENOMEM: ['no_space', 'does not fit: the memory of the session is used up'],
  ENAMETOOLONG: ['invalid_request', 'is too long'],
  ELOOP: ['invalid_request', 'leads in a circle'],
  EINVAL: ['unsupported', 'is nothing that this can be done with'],
}

const hints: Partial<Record<ErrorCode, string>> = {
  no_space:
    'delete files, or create a session with higher limits (workspace_mb and workspace_files, or those of the other folders)',
  not_empty: 'recursive deletes a directory with all that is in it',
  already_exists: 'overwrite replaces it',
}

/** Runs work on a path; what the container refuses is told as an error about that path. */
export async function onPath<T>(
  shown: string,
  work: () => Promise<T>,
  words: Readonly<Record<string, string>> = {},
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explain(error, shown, words)
  }
}

function explain(error: unknown, shown: string, words: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ContainerFault)) return error
  const [code, usual] = codes[error.code] ?? ['unsupported', `could not be used (${error.code})`]
  const hint = hints[code]
  return new BaxError(code, `${JSON.stringify(shown)} ${words[error.code] ?? usual}`, {
    cause: error,
    ...(hint && { hint }),
    details: { path: shown },
  })
}
