/** Sends CDP messages to WebSocket clients. */
import { limits } from '../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../core/net/link.ts'

/** Sends a message, or closes the connection of a client that reads too slowly. */
export function sendToClient(link: Link, text: string | Buffer): void {
  if (link.buffered > limits.relay.channelBytes) link.close(closeCodes.slow, 'the client does not keep up')
  else link.sendText(text)
}
