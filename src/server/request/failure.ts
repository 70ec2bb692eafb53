/** The answer to a call that failed: the one shape of errors, with the headers that belong to its status. */
import type { BaxError } from '../../core/errors/errors.ts'
import type { AppContext } from './env.ts'

export function failure(context: AppContext, error: BaxError, headers: Record<string, string> = {}): Response {
  for (const [name, value] of Object.entries({ ...headersOf(error), ...headers })) context.header(name, value)
  return context.json(error.toBody(context.get('requestId')), error.status as 400)
}

/** Headers that an error is answered with, whatever carries it. */
export function headersOf(error: BaxError): Record<string, string> {
  const { status, retryable } = error
  const again = status !== 408 && status !== 409 && (status < 500 || retryable)
  return {
    ...(status === 416 && { 'content-range': `bytes */${(error.details as { size: number }).size}` }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...((status === 429 || status === 503) && { 'retry-after': String(error.retryAfterSecs ?? 1) }),
    ...(!again && { 'x-should-retry': 'false' }),
  }
}
