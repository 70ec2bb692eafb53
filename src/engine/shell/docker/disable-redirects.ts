/** Disables redirects of the Docker client: docker-modem follows them without an error handler for the new request. */
import http from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'

type Client = Pick<typeof http, 'request'>

/** HTTP clients of docker-modem by protocol, looked up for every request. */
type ModemClients = Record<'http' | 'https', Client>

/** Replaces the HTTP clients in the copy of docker-modem that dockerode uses. A redirect then is a failed request. */
export function disableRedirects(): void {
  const load = createRequire(import.meta.url)
  const clients = createRequire(load.resolve('dockerode'))('docker-modem/lib/http') as ModemClients
  clients.http = withoutRedirects(http)
  clients.https = withoutRedirects(https)
}

const withoutRedirects = (client: typeof http | typeof https): Client => ({
  request: (...args: unknown[]) => {
    const request = client.request(...(args as Parameters<typeof http.request>))
    // docker-modem only waits for the end of a response; without this, an aborted one would never finish.
    request.on('response', (response) => response.on('error', (error) => request.emit('error', error)))
    return request
  },
})
