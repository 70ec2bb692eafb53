/** Messages for errors of the operating system: what could not be read or written, and why. */
import { asBaxError, BaxError, type ErrorCode, messageOf } from './errors.ts'

/** Reasons of failed connections. */
const connectionReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  ECONNABORTED: 'the connection was closed',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  ENOTFOUND: 'the host name cannot be resolved',
  EAI_AGAIN: 'the host name cannot be resolved',
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EMFILE: 'this process has too many open files',
  ENFILE: 'the system has too many open files',
  EIO: 'input/output error',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'not a folder',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the name is too long',
  EPIPE: 'the reader closed it',
  EBADF: 'it is closed',
  ELOOP: 'a symbolic link is not followed',
  EFBIG: 'the file is too large',
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space and repeat the command',
  EDQUOT: 'free some space and repeat the command',
  EMFILE: 'raise the limit of open files (`ulimit -n`), or run fewer tasks at once',
  ENFILE: 'raise the limit of open files (`ulimit -n`), or run fewer tasks at once',
}

const reading = new Set(['read', 'stat', 'lstat', 'access', 'scandir', 'realpath', 'readlink'])

/** Returns whether an error is that of a failed system call. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '')

/** Returns the code of a failed system call, such as `ENOENT`; undefined for other errors. */
export const systemCode = (error: unknown): string | undefined => (isSystemError(error) ? error.code : undefined)

/** Returns the reason of a failed system call; its code when there is no text for it, or the message of other errors. */
export function systemReason(thrown: unknown): string {
  const { code = '' }: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error()
  return reasons[code] ?? connectionReasons[code] ?? (code || messageOf(thrown))
}

/** Returns the sentence for a failed system call on a file; undefined for failures of other kinds. */
export function systemSentence(thrown: unknown): { readonly message: string; readonly hint?: string } | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code = '', path, dest, syscall } = thrown as NodeJS.ErrnoException & { dest?: string }
  const reason = reasons[code]
  // Errors of sockets have neither path nor hint; they are reported where they occur.
  if (reason === undefined || (path === undefined && !Object.hasOwn(hints, code))) return undefined
  const verb = reading.has(syscall ?? '') ? 'read' : syscall === 'open' && code === 'ENOENT' ? 'open' : 'write'
  const hint = hints[code]
  return { message: `cannot ${verb} ${dest ?? path ?? 'a file'}: ${reason}`, ...(hint && { hint }) }
}

/** Adds the file and the reason of a failed system call to an error; only for the machine's own user. */
export function withSystemCause(error: BaxError): BaxError {
  const sentence = systemSentence(error.cause)
  // Keep messages that say more than the generic one.
  if (!sentence || asBaxError(error.cause).message !== error.message) return error
  const { hint = error.hint } = sentence
  return new BaxError(error.code, sentence.message, { ...(hint && { hint }), cause: error.cause })
}

/** Errors whose hint and details name paths, programs, addresses and settings of the server: for the operator only. */
const forOperator: ReadonlySet<ErrorCode> = new Set([
  'browser_not_found',
  'browser_failed',
  'docker_unavailable',
  'engine_failed',
  'image_failed',
  'image_not_found',
  'model_failed',
  'model_not_configured',
  'profile_locked',
  'search_unavailable',
])

/** Messages for callers of a server, where the original is for the operator. */
const publicMessages: Partial<Record<ErrorCode, string>> = {
  docker_unavailable: 'shell sessions are currently not available on this server',
  engine_failed: 'the server cannot use its own files',
  image_failed: 'the image could not be created',
}

/** Returns the error as callers of a server may see it; the full error belongs in the server's log. */
export function publicError(error: BaxError): BaxError {
  if (!hidesDetails(error)) return error
  const { code, retryAfterSecs, details } = error
  const providers = code === 'search_unavailable' && details
  return new BaxError(code, publicMessages[code] ?? error.message, {
    ...(retryAfterSecs !== undefined && { retryAfterSecs }),
    ...(providers && { details: providers }),
    cause: error.cause,
  })
}

/** Details that name a field describe the caller's own request. */
const namesField = ({ code, details }: BaxError): boolean => code !== 'search_unavailable' && Array.isArray(details)

/** Returns whether `publicError` removes parts of the error. */
export const hidesDetails = (error: BaxError): boolean =>
  forOperator.has(error.code) &&
  !namesField(error) &&
  (error.hint !== undefined || error.details !== undefined || publicMessages[error.code] !== undefined)
