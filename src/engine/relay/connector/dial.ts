/** Connects a connector to its engine: one outbound WebSocket. */
import { WebSocket } from 'ws'
import { BaxError } from '../../../core/errors/errors.ts'
import { systemReason } from '../../../core/errors/system-errors.ts'
import type { Link } from '../../../core/net/link.ts'
import { limits } from '../../../core/limits/limits.ts'
import { websocketLink } from '../../../core/net/websocket-link.ts'
import { loopbackHost } from './endpoint.ts'
import { subprotocol } from '../tunnel/messages.ts'
import { whenOpen } from '../../cdp/socket-wire.ts'

export interface EngineAddress {
  /** `http://host:port`, or `unix:/path`. */
  readonly engine: string
  /** Relay token or API key; none for the user's own engine. */
  readonly token?: string
}

/**
 * Connects to an engine, naming the session to resume, so that a gateway finds the worker that has it.
 * @throws BaxError `unauthorized` and other codes of the engine, `engine_unreachable`.
 */
export function dialEngine({ engine, token }: EngineAddress, signal: AbortSignal, sessionId?: string): Promise<Link> {
  const path = `/relay/connect${sessionId === undefined ? '' : `?session_id=${encodeURIComponent(sessionId)}`}`
  const unix = engine.startsWith('unix:')
  const url = unix ? `ws+unix:${engine.slice('unix:'.length)}:${path}` : new URL(path, engine.replace(/^http/, 'ws'))
  // Compression costs more than it saves on the same machine.
  const local = typeof url === 'string' || loopbackHost.test(url.hostname)
  const socket = new WebSocket(url, subprotocol, {
    handshakeTimeout: limits.relay.handshakeMs,
    maxPayload: limits.relay.messageBytes,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    // Masking protects intermediaries; there are none on the same machine, and a mask of zeros costs nothing.
    ...(local && { generateMask: (mask: Buffer) => mask.fill(0) }),
    perMessageDeflate: local ? false : { threshold: 10 * 1024, zlibDeflateOptions: { level: 3 } },
  })
  return whenOpen(socket, signal, websocketLink, (fail) => {
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
    return new BaxError('engine_failed', `${engine} responded with ${status} and is not a bax engine`, { cause })
  }
}

const unreachable = (engine: string, cause: Error) =>
  new BaxError('engine_unreachable', `cannot reach the engine at ${engine}: ${systemReason(cause)}`, {
    cause,
    hint: 'start one with "bax serve", or omit --server to use a local engine',
  })
