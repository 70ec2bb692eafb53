/** A client that speaks CDP over a websocket of its own. */
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { sendToClient } from '../../cdp/client-link.ts'
import type { TunnelChannel } from '../tunnel/tunnel.ts'

/** Hands messages to and fro; either side's end is the other's. */
export function joinClient(link: Link, channel: TunnelChannel): void {
  link.handle({
    onText: (text) => channel.send(text),
    onBytes: () => link.close(closeCodes.protocol, 'CDP is spoken in text'),
    onClose: () => channel.close(),
  })
  channel.handle({
    onMessage: (text) => sendToClient(link, text),
    onUtf8: (text) => sendToClient(link, text),
    onClose: (code, reason) => link.close(code, reason),
  })
}
