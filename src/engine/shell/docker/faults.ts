/** Failures of Docker, in our words. */
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'

/** HTTP status of Docker's answer, or undefined when it did not answer. */
export const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode

const unreachable = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND'])

/** What is thrown for a failure during `doing` ("creating a container"). */
export function dockerFault(error: unknown, doing: string): BaxError {
  if (error instanceof BaxError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (statusOf(error) === undefined && code !== undefined && unreachable.has(code))
    return new BaxError('docker_unavailable', `Docker went away while ${doing}`, {
      hint: 'see whether it still runs (`docker info`), and repeat the call',
      cause: error,
    })
  if (statusOf(error) === undefined) return asBaxError(error)
  const said = saidIn(error) ?? message
  if (/no space left on device/i.test(said))
    return new BaxError('no_space', `Docker's disk is full (${doing})`, {
      hint: 'free some space and repeat the call',
      cause: error,
    })
  return new BaxError('internal_error', `Docker refused ${doing}: ${said.trim()}`, { cause: error })
}

function saidIn(error: unknown): string | undefined {
  const message = (error as { json?: { message?: unknown } }).json?.message
  return typeof message === 'string' ? message : undefined
}

/** Runs one call of Docker's; an answer with one of these statuses is undefined instead of an error. */
export async function unless<T>(statuses: readonly number[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (statuses.includes(statusOf(error) ?? 0)) return undefined
    throw error
  }
}
