/** The way of a connector to its engine: one outbound websocket. */
import { WebSocket } from 'ws'
import { BaxError } from '../../../core/errors/errors.ts'
import type { Link } from '../../../core/net/link.ts'
import { limits } from '../../../core/limits/limits.ts'
import { websocketLink } from '../../../core/net/websocket-link.ts'
import { loopback } from './endpoint.ts'
import { subprotocol } from '../tunnel/messages.ts'

export interface EngineAddress {
  /** `http://host:port`, or `unix:/path`. */
  readonly engine: string
  /** Relay token or API key; none where the engine is the user's own. */
  readonly token?: string
}

/** @throws BaxError `unauthorized` and others of the engine's, `engine_unreachable`. */
export function dialEngine({ engine, token }: EngineAddress, signal: AbortSignal): Promise<Link> {
  const path = '/relay/connect'
  const unix = engine.startsWith('unix:')
  const url = unix ? `ws+unix:${engine.slice('unix:'.length)}:${path}` : new URL(path, engine.replace(/^http/, 'ws'))
  // Compression costs more than it saves on one machine.
  const near = typeof url === 'string' || loopback.test(url.hostname)
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, subprotocol, {
      handshakeTimeout: limits.relay.handshakeMs,
      maxPayload: limits.relay.messageBytes,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      // Masks protect what stands in between; on one machine there is nothing, and a mask of zeros costs nothing.
      ...(near && { generateMask: (mask: Buffer) => mask.fill(0) }),
      perMessageDeflate: near ? false : { threshold: 10 * 1024, zlibDeflateOptions: { level: 3 } },
    })
    const settle = () => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners()
      // Closing what is not open yet is an error event again.
      socket.on('error', () => {})
    }
    const fail = (error: BaxError) => {
      settle()
      socket.terminate()
      reject(error)
    }
    const abort = () => fail(new BaxError('timeout', 'given up', { cause: signal.reason }))
    signal.addEventListener('abort', abort, { once: true })
    socket.once('open', () => {
      settle()
      resolve(websocketLink(socket))
    })
    socket.once('error', (cause) => fail(unreachable(engine, cause)))
    socket.once('unexpected-response', (_request, response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.once('end', () => fail(refusal(engine, response.statusCode ?? 0, text)))
      response.once('error', (cause) => fail(unreachable(engine, cause)))
    })
  })
}

function refusal(engine: string, status: number, text: string): BaxError {
  try {
    return BaxError.fromBody(JSON.parse(text), status === 401 ? 'unauthorized' : 'engine_failed')
  } catch (cause) {
    return new BaxError('engine_failed', `${engine} answered ${status} and is no engine of bax`, { cause })
  }
}

const unreachable = (engine: string, cause: Error) =>
  new BaxError('engine_unreachable', `cannot reach the engine at ${engine}: ${cause.message}`, {
    cause,
    hint: 'is it running? start one with `bax serve`, or leave --server out to use an engine of your own',
  })
