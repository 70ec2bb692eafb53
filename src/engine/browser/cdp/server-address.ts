/** Addresses of servers in events of the browser, which connects to the engine's proxy instead. */
import type { CdpMessage } from '../../cdp/router.ts'

interface Response {
  remoteIPAddress?: string
  remotePort?: number
}

/** Removes the address of the proxy from an event, so that no client takes it for that of the site. */
export function withoutServerAddress(message: CdpMessage): CdpMessage {
  const { method, params } = message
  if (method === 'Network.responseReceived') forget(params?.['response'] as Response)
  if (method === 'Network.requestWillBeSent') forget(params?.['redirectResponse'] as Response | undefined)
  return message
}

function forget(response: Response | undefined): void {
  delete response?.remoteIPAddress
  delete response?.remotePort
}
