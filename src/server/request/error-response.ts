/** Error responses: the standard error body, and the headers that belong to its status. */
import type { BaxError } from '../../core/errors/errors.ts'
import type { AppContext } from './env.ts'

export function failure(context: AppContext, error: BaxError, headers: Record<string, string> = {}): Response {
  for (const [name, value] of Object.entries({ ...headersOf(error), ...headers })) context.header(name, value)
  return context.json(error.toBody(context.get('requestId')), error.status as 400)
}

export function headersOf(error: BaxError): Record<string, string> {
  const { status, retryable } = error
  const mayRetry = status !== 408 && status !== 409 && (status < 500 || retryable)
  return {
    ...(status === 416 && { 'content-range': `bytes */${(error.details as { size: number }).size}` }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...((status === 429 || status === 503) && { 'retry-after': String(error.retryAfterSecs ?? 1) }),
    ...(!mayRetry && { 'x-should-retry': 'false' }),
  }
}
