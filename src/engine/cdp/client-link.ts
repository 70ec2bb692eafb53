/** What a client of CDP is sent over its websocket. */
import { limits } from '../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../core/net/link.ts'

/** Sends a message, unless the client has let too many of them wait: then it is let go of, and nobody else waits for it. */
export function sendToClient(link: Link, text: string | Buffer): void {
  if (link.buffered > limits.relay.channelBytes) link.close(closeCodes.slow, 'the client does not keep up')
  else link.sendText(text)
}
