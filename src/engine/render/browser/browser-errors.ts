import { BaxError } from '../../../core/errors/errors.ts'

/** The failure of a navigation (`net::ERR_…`) under our codes. */
export function navigationError(text: string): BaxError {
  const name = text.replace(/^net::/, '')
  if (/NAME_NOT_RESOLVED|NAME_RESOLUTION_FAILED|ICANN_NAME_COLLISION|DNS_/.test(name)) {
    return new BaxError('dns_failed', 'the host name cannot be resolved')
  }
  if (/TOO_MANY_REDIRECTS/.test(name)) return new BaxError('too_many_redirects', 'the page redirects without end')
  if (/CERT|SSL|TLS/.test(name)) return new BaxError('tls_error', `the secure connection failed: ${words(name)}`)
  if (/UNKNOWN_URL_SCHEME|UNSAFE_PORT|UNSAFE_REDIRECT|BLOCKED_BY|DISALLOWED_URL/.test(name)) {
    return new BaxError('url_blocked', 'URL blocked')
  }
  if (name === 'ERR_ABORTED')
    return new BaxError('navigation_aborted', 'the page was not opened: it is a download, or empty')
  if (/TIMED_OUT/.test(name)) return new BaxError('connection_failed', 'the host does not answer')
  return new BaxError('connection_failed', `the connection failed: ${words(name)}`)
}

const words = (name: string): string => name.replace(/^ERR_/, '').replaceAll('_', ' ').toLowerCase()
