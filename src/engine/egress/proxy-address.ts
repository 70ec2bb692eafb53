/** Parses the address of a session's own proxy. */
import { BaxError } from '../../core/errors/errors.ts'

/** Parses the URL of a proxy; the default scheme is `http`. @throws BaxError `invalid_request` */
export function proxyAddress(server: string): URL {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(server) ? server : `http://${server}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (!url || url.hostname === '' || !['http:', 'https:', 'socks4:', 'socks5:'].includes(url.protocol)) {
    const message = 'is not an http, https, socks4 or socks5 URL'
    throw new BaxError('invalid_request', `proxy.server ${message}`, { details: [{ path: 'proxy.server', message }] })
  }
  return url
}
