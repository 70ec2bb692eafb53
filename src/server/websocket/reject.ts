/** Error responses on raw sockets, for malformed requests and rejected upgrades, which Node does not answer. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { version } from '../../core/version.ts'
import { headersOf } from '../request/error-response.ts'

/**
 * Sends the standard error response and closes the socket. Sockets of an HTTP server are half-open after `end()` for as
 * long as the client likes, so one that the client does not close is destroyed after `limits.connection.lingerMs`.
 */
export function rejectSocket(
  socket: Duplex,
  error: BaxError,
  requestId: string,
  more: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(error.toBody(requestId))
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': requestId,
    'x-bax-version': version,
    ...headersOf(error),
    ...more,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const timer = setTimeout(() => socket.destroy(), limits.connection.lingerMs)
  socket.once('close', () => clearTimeout(timer))
  socket.once('end', () => socket.destroy())
  // Unread input would turn the close into a reset, which can discard the response before the client has read it.
  socket.resume()
  socket.end([`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n'))
}
