/** CDP clients with their own WebSocket. */
import { closeCodes, type Link } from '../../../core/net/link.ts'
import { sendToClient } from '../../cdp/message.ts'
import type { TunnelChannel } from '../tunnel/tunnel.ts'

/** Forwards messages in both directions; when one side closes, the other is closed. */
export function joinClient(link: Link, channel: TunnelChannel): void {
  link.handle({
    onText: (text) => channel.send(text),
    onBytes: () => link.close(closeCodes.protocol, 'CDP messages must be text'),
    onClose: () => channel.close(),
  })
  channel.handle({
    onMessage: (text) => sendToClient(link, text),
    onUtf8: (text) => sendToClient(link, text),
    onClose: (code, reason) => link.close(code, reason),
  })
}
