/** Wraps a browser's WebSocket as the wire of a CDP router. */
import type { Agent } from 'node:http'
import type { LookupFunction } from 'node:net'
import { WebSocket } from 'ws'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason } from '../../core/errors/system-errors.ts'
import { answeredId, messageExcess, tooLargeAnswer } from './message-size.ts'
import type { CdpWire } from './router.ts'

export type BrowserWire = Required<CdpWire>

export interface WireOptions {
  /** Maximum message size in bytes; a longer message closes the connection. */
  readonly maxBytes: number
  /** Close the connection on an event that is too large to parse; otherwise the event is dropped. */
  readonly excessEnds: boolean
  /** DNS lookup to use instead of the system's. */
  readonly lookup?: LookupFunction
  /** Agent that connects through a proxy. */
  readonly agent?: Agent
}

/**
 * Connects once: in approval mode every attempt opens another dialog for the user.
 * @throws BaxError `browser_refused` when the user refuses, `timeout`, `browser_failed`.
 */
export function openBrowserWire(
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
  { maxBytes, excessEnds, lookup, agent }: WireOptions,
): Promise<BrowserWire> {
  const socket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: maxBytes,
    handshakeTimeout: timeoutMs,
    ...(lookup && { lookup }),
    ...(agent && { agent }),
  })
  const wrap = () => wireOf(socket, excessEnds)
  return whenOpen(socket, signal, wrap, (fail) => {
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => fail(refusalOf(statusCode)))
    socket.once('error', (cause) => {
      if (cause instanceof BaxError) fail(cause)
      else if (/timed out/i.test(cause.message))
        fail(new BaxError('timeout', 'the browser did not answer in time', { cause }))
      else fail(new BaxError('browser_failed', `cannot reach the browser: ${systemReason(cause)}`, { cause }))
    })
  })
}

/** Resolves with the wrapped socket once it is open; `listen` receives a function that rejects. */
export function whenOpen<T>(
  socket: WebSocket,
  signal: AbortSignal,
  wrap: (socket: WebSocket) => T,
  listen: (fail: (error: BaxError) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const detach = () => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners()
      // Terminating a socket that is not open yet emits another error.
      socket.on('error', () => {})
    }
    const fail = (error: BaxError) => {
      detach()
      socket.terminate()
      reject(error)
    }
    const abort = () => {
      const isLate = (signal.reason as Error | undefined)?.name === 'TimeoutError'
      const message = `the connection attempt ${isLate ? 'timed out' : 'was canceled'}`
      fail(new BaxError('timeout', message, { cause: signal.reason }))
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('open', () => {
      detach()
      resolve(wrap(socket))
    })
    listen(fail)
  })
}

function refusalOf(status: number): BaxError {
  if (status === 403) {
    return new BaxError('browser_refused', 'the browser did not allow remote debugging', {
      hint: 'start again and allow it in the dialog, or start the browser with --remote-debugging-port',
    })
  }
  return new BaxError('browser_failed', `the browser rejected the debugging connection with status ${status}`)
}

/** WebSocket close code for a protocol error. */
const protocolError = 1002

/** Builds the error for a connection that failed after it was open. */
function broken(cause: NodeJS.ErrnoException): BaxError {
  const isLong = cause.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
  const isProtocol = cause.code?.startsWith('WS_ERR_')
  const why = isLong
    ? 'it sent a message that is too large'
    : isProtocol
      ? 'it violates the WebSocket protocol'
      : systemReason(cause)
  return new BaxError('browser_failed', why, { cause })
}

function wireOf(socket: WebSocket, excessEnds: boolean): BrowserWire {
  let error: Error | undefined
  const close = (why?: string) => {
    socket.removeAllListeners('message')
    if (why === undefined) return socket.close()
    // A peer may keep sending invalid frames instead of closing: send the reason and do not wait.
    socket.close(protocolError, why)
    socket.terminate()
  }
  return {
    send: (text) => socket.send(text),
    handle: ({ onMessage, onClose }) => {
      // Never pause reading: Chrome would buffer and then drop messages silently.
      socket.on('message', (data: Buffer) => {
        const excess = messageExcess(data)
        const id = excess === undefined ? undefined : answeredId(data)
        if (excess === undefined) onMessage(data.toString())
        else if (id !== undefined) onMessage(tooLargeAnswer(id, excess))
        else if (excessEnds) {
          error = new BaxError('browser_failed', `it sent an event ${excess}`)
          close(error.message)
        }
      })
      socket.on('close', () => onClose(error))
      // Every error is followed by a close event.
      socket.on('error', (cause) => (error = broken(cause)))
    },
    close,
  }
}
