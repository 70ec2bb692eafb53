/** Errors of the protocol, for requests whose results cannot be failures. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { asBaxError } from '../core/errors/errors.ts'

/** Converts failures of resources and prompts to errors of the protocol. */
export async function orProtocolError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const { code, message, status } = asBaxError(thrown)
    throw new ProtocolError(
      status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams,
      `${message} [${code}]`,
    )
  }
}
