/** A browser's own websocket as the wire of a CDP router. */
import type { LookupFunction } from 'node:net'
import { WebSocket } from 'ws'
import { BaxError } from '../../../core/errors/errors.ts'
import { answeredId, messageExcess, tooLargeAnswer } from '../../cdp/message-size.ts'
import type { CdpWire } from '../../cdp/router.ts'

export interface BrowserWire extends CdpWire {
  close(fault?: string): void
}

export interface WireOptions {
  /** A longer message ends the connection. */
  readonly maxBytes: number
  /** An event that would take too long to parse ends the connection, too; without it the event is dropped. */
  readonly excessEnds: boolean
  /** Resolves the host in place of the system. */
  readonly lookup?: LookupFunction
}

/**
 * Connects once; in approval mode Chrome asks its user meanwhile, and every new attempt would raise another dialog.
 * @throws BaxError `browser_refused` when the user says no, `timeout`, `browser_failed`.
 */
export function openBrowserWire(
  url: string,
  timeoutMs: number,
  signal: AbortSignal,
  { maxBytes, excessEnds, lookup }: WireOptions,
): Promise<BrowserWire> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: maxBytes,
      handshakeTimeout: timeoutMs,
      ...(lookup && { lookup }),
    })
    const fail = (error: BaxError) => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners()
      // Closing before it is open is an error event again.
      socket.on('error', () => {})
      socket.terminate()
      reject(error)
    }
    const abort = () => fail(new BaxError('timeout', 'given up', { cause: signal.reason }))
    signal.addEventListener('abort', abort, { once: true })
    socket.once('open', () => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners()
      resolve(wireOf(socket, excessEnds))
    })
    socket.once('unexpected-response', (_request, { statusCode = 0 }) => fail(refusalOf(statusCode)))
    socket.once('error', (cause) => {
      const late = /timed out/i.test(cause.message)
      if (late) fail(new BaxError('timeout', 'the browser did not answer in time', { cause }))
      else fail(new BaxError('browser_failed', `cannot reach the browser: ${cause.message}`, { cause }))
    })
  })
}

function refusalOf(status: number): BaxError {
  if (status === 403) {
    return new BaxError('browser_refused', 'the browser did not allow remote debugging', {
      hint: 'start again and allow it in the dialog, or start the browser with --remote-debugging-port',
    })
  }
  return new BaxError('browser_failed', `the browser answered ${status} where a debugging connection was asked for`)
}

/** Code of a websocket's end. */
const protocolFault = 1002

function wireOf(socket: WebSocket, excessEnds: boolean): BrowserWire {
  let fault: Error | undefined
  const close = (why?: string) => {
    socket.removeAllListeners('message')
    if (why === undefined) return socket.close()
    // Who speaks nonsense may go on with it instead of closing: it is told why, and not waited for.
    socket.close(protocolFault, why)
    socket.terminate()
  }
  return {
    send: (text) => socket.send(text),
    handle: ({ onMessage, onClose }) => {
      // Reading is never paused: Chrome would buffer, and then drop in silence.
      socket.on('message', (data: Buffer) => {
        const excess = messageExcess(data)
        const id = excess === undefined ? undefined : answeredId(data)
        if (excess === undefined) onMessage(data.toString())
        else if (id !== undefined) onMessage(tooLargeAnswer(id, excess))
        else if (excessEnds) {
          fault = new Error(`it sent an event ${excess}`)
          close(fault.message)
        }
      })
      socket.on('close', () => onClose(fault))
      // A close follows every error.
      socket.on('error', (error) => (fault = error))
    },
    close,
  }
}
