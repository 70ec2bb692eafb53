/** Keeps the Docker client at its endpoint: docker-modem follows redirects, and leaves what they lead to without an error handler. */
import http from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'

type Client = Pick<typeof http, 'request'>

/** The part of docker-modem that sends requests: an object by protocol, read for every request. */
type ModemClients = Record<'http' | 'https', Client>

/** Replaces the client's HTTP layer, in the copy of docker-modem that dockerode uses. A redirect is then a failed request. */
export function sendStraight(): void {
  const load = createRequire(import.meta.url)
  const clients = createRequire(load.resolve('dockerode'))('docker-modem/lib/http') as ModemClients
  clients.http = straight(http)
  clients.https = straight(https)
}

const straight = (client: typeof http | typeof https): Client => ({
  request: (...args: unknown[]) => {
    const request = client.request(...(args as Parameters<typeof http.request>))
    // docker-modem waits for the end of a response only, so one that breaks off would keep its caller waiting.
    request.on('response', (response) => response.on('error', (error) => request.emit('error', error)))
    return request
  },
})
