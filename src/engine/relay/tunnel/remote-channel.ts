/** CDP over a tunnel channel: the consumer's end, and the end that serves it. */
import { BaxError } from '../../../core/errors/errors.ts'
import { closeCodes } from '../../../core/net/link.ts'
import { limits } from '../../../core/limits/limits.ts'
import { readCall } from '../../cdp/message.ts'
import { answeredId, messageExcess, tooLargeAnswer, tooLargeCode } from '../../cdp/message-size.ts'
import { cdpError, type CdpFailure, lostCode } from '../../cdp/protocol-errors.ts'
import { type Answer, type CdpChannel, type CdpMessage, sendOver } from '../../cdp/router.ts'
import type { TunnelChannel } from './tunnel.ts'

/** The failure of calls after the connection to the connector is lost. */
const disconnected: CdpFailure = { code: lostCode, message: 'the relay is disconnected' }

/** Converts the error of a call. After a loss it is unknown whether the browser has executed the call. */
function sendError(method: string, failure: CdpFailure): BaxError {
  const details = { outcome: 'unknown' }
  if (failure === disconnected) return new BaxError('relay_disconnected', failure.message, { details })
  if (failure.code === lostCode)
    return new BaxError('browser_lost', 'the browser was lost during the call', { details })
  return cdpError(method, failure)
}

/** Engine's end: sends CDP over a channel of the tunnel. */
export class RemoteChannel implements CdpChannel {
  readonly #channel: TunnelChannel
  readonly #pending = new Map<number, { readonly message: CdpMessage; readonly answer: Answer }>()
  #onEvent: ((message: CdpMessage) => void) | undefined
  #onClose: (() => void) | undefined
  #lastId = 0
  #closed = false

  constructor(channel: TunnelChannel) {
    this.#channel = channel
    channel.handle({ onMessage: (bytes) => this.#read(bytes), onClose: () => this.#disconnect() })
  }

  /** @throws BaxError `cdp_error` with the browser's error; `relay_disconnected` when the connection is lost. */
  send(method: string, params?: object, sessionId?: string, maxBytes?: number): Promise<Record<string, unknown>> {
    const limit = maxBytes !== undefined && { max_bytes: maxBytes }
    const post = (message: CdpMessage, answer: Answer) => this.post({ ...message, ...limit }, answer)
    return sendOver({ post }, sendError, method, params, sessionId)
  }

  post(message: CdpMessage, answer: Answer): void {
    if (this.#closed) return reply(message, { error: disconnected }, answer)
    const id = ++this.#lastId
    this.#pending.set(id, { message, answer })
    this.#channel.send(JSON.stringify({ ...message, id }))
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#onEvent = listener
  }

  onClose(listener: () => void): void {
    if (this.#closed) listener()
    else this.#onClose = listener
  }

  close(): void {
    if (this.#closed) return
    this.#channel.close()
    this.#disconnect()
  }

  /** Replaces responses that are too large to parse with an error; drops such events. */
  #read(bytes: Buffer): void {
    const excess = messageExcess(bytes)
    const id = excess === undefined ? undefined : answeredId(bytes)
    if (excess === undefined) this.#receive(JSON.parse(bytes.toString()) as CdpMessage)
    else if (id !== undefined) this.#receive(JSON.parse(tooLargeAnswer(id, excess)) as CdpMessage)
  }

  #receive(message: CdpMessage): void {
    if (message.id === undefined) return this.#onEvent?.(message)
    const call = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (call) reply(call.message, message, call.answer)
  }

  #disconnect(): void {
    if (this.#closed) return
    this.#closed = true
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const { message, answer } of pending) {
      reply(message, { error: disconnected }, answer)
    }
    this.#onClose?.()
  }
}

/** Forwards calls from the tunnel to the browser, and its messages back. */
export function serveChannel(tunnel: TunnelChannel, browser: CdpChannel, gone: { code: number; reason: string }): void {
  browser.onEvent((event) => tunnel.send(JSON.stringify(event)))
  browser.onClose(() => tunnel.close(gone.code, gone.reason))
  tunnel.handle({
    onMessage: (bytes) => {
      const message = readCall(bytes.toString())
      if (message) {
        const { max_bytes: maxBytes = limits.relay.maxResultBytes, ...call } = message
        return browser.post(call, (answer) => sendAnswer(answer, maxBytes, tunnel))
      }
      // Invalid messages of one consumer must not end the tunnel for all.
      tunnel.close(closeCodes.protocol, 'CDP messages must be JSON')
      browser.close()
    },
    onClose: () => browser.close(),
  })
}

/** Sends a response, or an error when it is too large, without affecting the channel or other calls. */
function sendAnswer(answer: CdpMessage, maxBytes: number, tunnel: TunnelChannel): void {
  const { result, error: _, ...head } = answer
  const bytes = Buffer.from(JSON.stringify(answer))
  // The envelope is not part of the result.
  const resultBytes = result ? bytes.length - JSON.stringify({ ...head, result: {} }).length + 2 : 0
  const refuse = (why: string) => {
    const error = { code: tooLargeCode, message: `the result has ${resultBytes} bytes${why}` }
    tunnel.send(JSON.stringify({ ...head, error }))
  }
  if (resultBytes > maxBytes) refuse(`, more than max_bytes (${maxBytes})`)
  else if (!tunnel.answer(bytes)) refuse(', and other results are waiting to be sent; try again')
}

/** Replies with the ID and session of the call. */
function reply({ id, sessionId }: CdpMessage, { result, error }: CdpMessage, answer: Answer): void {
  const known: CdpMessage = { ...(id !== undefined && { id }), ...(sessionId && { sessionId }) }
  answer({ ...known, ...(error ? { error } : { result: result ?? {} }) })
}
