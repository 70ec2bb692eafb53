/** Converts network errors to BaxErrors. Messages contain no URL, because a redirect can lead to an internal one. */
import { BaxError } from '../../core/errors/errors.ts'
import { unresolvedHost } from '../../core/errors/unresolved-host.ts'

/** Returns the underlying error with a code; of several connection attempts, the first. */
function rootError(error: unknown): NodeJS.ErrnoException {
  let found = error as NodeJS.ErrnoException & { cause?: unknown; errors?: unknown[] }
  while (found.code === undefined) {
    const inner = found.cause ?? found.errors?.[0]
    if (inner === undefined || inner === null) break
    found = inner as typeof found
  }
  return found
}

/** Returns whether the server has closed the connection; `fetch` has a code of its own for it. */
export function isReset(error: unknown): boolean {
  const { code } = rootError(error)
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET'
}

const certificate =
  /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)/

const connection: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the server closed the connection without a response',
  EPIPE: 'the server closed the connection without a response',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENETDOWN: 'the network is down',
  EADDRNOTAVAIL: 'the host cannot be reached',
  EACCES: 'the network refused the connection',
  ETIMEDOUT: 'the host does not answer',
  HPE_HEADER_OVERFLOW: 'the response headers are too large',
}

/** Converts an error. `broken` is the message for a response that was cut off, `host` that of the caller's URL. */
export function explainFetch(error: unknown, broken?: string, host?: string): BaxError {
  const cause = rootError(error)
  const { code = '', message } = cause
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA' || code === 'EAI_FAIL')
    return unresolvedHost(host, code, error)
  if (certificate.test(code))
    return new BaxError('tls_error', `the secure connection failed: ${tlsWords(code, message)}`, { cause: error })
  const reason =
    broken ?? connection[code] ?? (code.startsWith('HPE_') ? 'the response is not HTTP' : 'the connection failed')
  return new BaxError('connection_failed', reason, { cause: error })
}

function tlsWords(code: string, message: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate has expired'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return 'the certificate is for another host'
  if (code.startsWith('SELF_SIGNED') || code.startsWith('DEPTH_ZERO')) return 'the certificate is self-signed'
  if (code.startsWith('UNABLE_TO')) return 'the certificate cannot be verified'
  return /wrong version number|packet length too long/i.test(message)
    ? 'the server does not speak TLS'
    : 'the TLS handshake failed'
}
