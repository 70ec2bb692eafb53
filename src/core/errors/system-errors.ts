/** Refusals of the operating system, in words: what could not be read or written, and why. */
import { asBaxError, BaxError, type ErrorCode } from './errors.ts'

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
  EPIPE: 'nobody reads it',
}

const hints: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space and repeat the command',
  EDQUOT: 'free some space and repeat the command',
  EMFILE: 'raise the limit of open files (`ulimit -n`), or run less at the same time',
  ENFILE: 'raise the limit of open files (`ulimit -n`), or run less at the same time',
}

const reading = new Set(['read', 'stat', 'lstat', 'access', 'scandir', 'realpath', 'readlink'])

/** Why a system call failed, in words; its code where there are none. */
export const systemReason = ({ code = '', message }: NodeJS.ErrnoException): string =>
  reasons[code] ?? (code || message)

/** Returns the sentence for a failed system call on a file; undefined for failures of other kinds. */
export function systemSentence(thrown: unknown): { readonly message: string; readonly hint?: string } | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code = '', path, dest, syscall } = thrown as NodeJS.ErrnoException & { dest?: string }
  const reason = reasons[code]
  // Sockets have neither: their failures are told where they happen.
  if (reason === undefined || (path === undefined && !Object.hasOwn(hints, code))) return undefined
  const verb = reading.has(syscall ?? '') ? 'read' : syscall === 'open' && code === 'ENOENT' ? 'open' : 'write'
  const hint = hints[code]
  return { message: `cannot ${verb} ${dest ?? path ?? 'a file'}: ${reason}`, ...(hint && { hint }) }
}

/** Names the file and the reason in an error that a system call caused: for the machine's own user only. */
export function withSystemCause(error: BaxError): BaxError {
  const sentence = systemSentence(error.cause)
  // An error that says more than its cause alone keeps its own words.
  if (!sentence || asBaxError(error.cause).message !== error.message) return error
  const { hint = error.hint } = sentence
  return new BaxError(error.code, sentence.message, { ...(hint && { hint }), cause: error.cause })
}

/** Failures whose hint and details are for the operator: they name paths, programs, addresses and settings of the server. */
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

/** What callers of a server are told where the message itself is the operator's. */
const publicMessages: Partial<Record<ErrorCode, string>> = {
  docker_unavailable: 'shell sessions are not available on this server now',
  engine_failed: 'the server cannot use its own files',
  image_failed: 'the image could not be made',
}

/** The error as a caller of a server may see it; the whole of it belongs in the server's log. */
export function forCallers(error: BaxError): BaxError {
  if (!hidesFrom(error)) return error
  const { code, retryAfterSecs, details } = error
  const providers = code === 'search_unavailable' && details
  return new BaxError(code, publicMessages[code] ?? error.message, {
    ...(retryAfterSecs !== undefined && { retryAfterSecs }),
    ...(providers && { details: providers }),
    cause: error.cause,
  })
}

/** Details that name a field are of the caller's own request. */
const namesField = ({ code, details }: BaxError): boolean => code !== 'search_unavailable' && Array.isArray(details)

/** Whether callers are shown less than there is to say. */
export const hidesFrom = (error: BaxError): boolean =>
  forOperator.has(error.code) &&
  !namesField(error) &&
  (error.hint !== undefined || error.details !== undefined || publicMessages[error.code] !== undefined)
