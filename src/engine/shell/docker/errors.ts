/** Translates errors of Docker. */
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'

/** Returns the HTTP status of Docker's response, or undefined if there was none. */
export const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode

const unreachable = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND'])

/** Returns the error for a failure of an action, such as "creating a container". */
export function dockerError(error: unknown, action: string): BaxError {
  if (error instanceof BaxError) return error
  const { code, message: fallback } = error as NodeJS.ErrnoException
  if (statusOf(error) === undefined && code !== undefined && unreachable.has(code))
    return new BaxError('docker_unavailable', `lost the connection to Docker while ${action}`, {
      hint: 'check that Docker is running (`docker info`), and retry',
      cause: error,
      // Docker has not received the request.
      ...((code === 'ECONNREFUSED' || code === 'ENOENT') && { unavailable: true as const }),
    })
  if (statusOf(error) === undefined) return asBaxError(error)
  const message = messageIn(error) ?? fallback
  if (/no space left on device/i.test(message))
    return new BaxError('no_space', `Docker's disk is full (while ${action})`, {
      hint: 'free some space and retry',
      cause: error,
    })
  return new BaxError('docker_unavailable', `Docker reported an error while ${action}: ${message.trim()}`, {
    cause: error,
    hint: "see Docker's log for details",
  })
}

function messageIn(error: unknown): string | undefined {
  const message = (error as { json?: { message?: unknown } }).json?.message
  return typeof message === 'string' ? message : undefined
}

/** Awaits a call of Docker; responses with one of these statuses resolve with undefined. */
export async function ignoreStatuses<T>(statuses: readonly number[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (statuses.includes(statusOf(error) ?? 0)) return undefined
    throw error
  }
}
