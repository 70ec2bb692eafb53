/** Where a session's own proxy is, from what its creator typed. */
import { BaxError } from '../../core/errors/errors.ts'

/** The address of a proxy; without a scheme it speaks HTTP. @throws BaxError `invalid_request` */
export function proxyAddress(server: string): URL {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(server) ? server : `http://${server}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (!url || url.hostname === '' || !['http:', 'https:', 'socks4:', 'socks5:'].includes(url.protocol)) {
    const message = 'is no http, https, socks4 or socks5 address'
    throw new BaxError('invalid_request', `proxy.server ${message}`, { details: [{ path: 'proxy.server', message }] })
  }
  return url
}
