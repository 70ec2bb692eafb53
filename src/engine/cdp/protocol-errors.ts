/** Errors of the DevTools protocol, as errors of the engine. Their texts are for the engine and its log, not for callers. */
import { browserErrorOf } from '../../core/errors/browser-errors.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { tooLargeCode } from './message-size.ts'
import type { CdpMessage } from './router.ts'

export type CdpFailure = NonNullable<CdpMessage['error']>

/** Error code of calls whose connection is lost or closed; none of Chromium's own. */
export const lostCode = -32_006
/** Chromium's error code for a session that does not exist, or whose page was closed. */
const noSessionCode = -32_001

/** The failure of calls on a session that does not exist, in the words of Chromium. */
export const noSession: CdpFailure = { code: noSessionCode, message: 'Session with given id not found.' }

/** Converts the error of a call of the engine. */
export function protocolError(method: string, failure: CdpFailure): BaxError {
  const { code, message } = failure
  const cause = new ProtocolError(`${method}: ${message}`)
  if (code === lostCode) return new BaxError('worker_lost', message, { cause })
  if (code === tooLargeCode) return new BaxError('content_too_large', message, { cause })
  const known = browserErrorOf(message)
  if (known) return new BaxError(known.code, known.message, { cause })
  const details = { code, message, method }
  return new BaxError('cdp_error', 'the browser reported an error', { cause, details })
}

/**
 * Converts the error of a call that a caller requested; errors of the browser are results for them, except those about
 * sessions, which callers do not have.
 */
export function cdpError(method: string, failure: CdpFailure): BaxError {
  const { code, message } = failure
  return code === lostCode || code === noSessionCode
    ? protocolError(method, failure)
    : new BaxError('cdp_error', message, { details: { code, message, method } })
}

class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** Returns the method and message of the browser's error; empty for errors of other kinds. */
export function protocolText(error: unknown): string {
  const { cause } = error as Error
  return cause instanceof ProtocolError ? cause.message : ''
}
