/** A loopback port for websockets and the live view, for engines without a port of their own; tokens grant access. */
import type { Engine } from '../../core/engine.ts'
import { type Gate, loopbackHosts } from '../access/gate.ts'
import { livePage } from '../live-view/page.ts'
import { accessesAt } from '../request/routes.ts'
import { listen, type Listener } from './listen.ts'

interface SocketPort extends Listener {
  readonly address: `http${string}`
}

export async function listenForSockets(engine: Engine): Promise<SocketPort> {
  const gate = { hosts: loopbackHosts, origins: new Set<string>(), keys: engine.keys }
  const port = await listen(livePages(gate), { host: '127.0.0.1', port: 0 }, { engine, gate, own: false })
  return port as SocketPort
}

const livePages = (gate: Gate) => ({
  fetch: (request: Request) =>
    accessesAt(request.method, new URL(request.url).pathname).some(({ page }) => page)
      ? livePage(request, gate.origins)
      : new Response(null, { status: 404 }),
})
