/** The gate in front of every request: fails closed, before anything is read or run. */
import { BaxError } from '../core/errors.ts'

export interface Door {
  /**
   * Host names (without port) that a request may be addressed to; null where no name is checked (a unix socket,
   * a call within the process). Guards a server without keys against DNS rebinding.
   */
  readonly hosts: ReadonlySet<string> | null
  /** Web origins that may call; none by default, so that no web page can drive a local server. */
  readonly origins: ReadonlySet<string>
}

export const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** @throws BaxError `bad_host` or `bad_origin`. */
export function admit(headers: Headers, door: Door): void {
  if (door.hosts !== null) {
    const host = (headers.get('host') ?? '').replace(/:\d+$/, '').toLowerCase()
    if (!door.hosts.has(host)) {
      throw new BaxError('bad_host', 'this Host is not served here', {
        hint: 'use 127.0.0.1 or localhost, or start the server with --allow-host NAME',
      })
    }
  }
  const origin = headers.get('origin')
  if (origin !== null && !door.origins.has(origin))
    throw new BaxError('bad_origin', 'calls from this web origin are not allowed')
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'none' && site !== 'same-origin' && origin === null) {
    throw new BaxError('bad_origin', 'calls from web pages are not allowed')
  }
}
