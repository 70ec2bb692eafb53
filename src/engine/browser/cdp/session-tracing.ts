/**
 * Traces of CDP clients (`Tracing.*` on the session of a page). Chromium records its whole process, so a session has its
 * browser for itself while a trace is recorded: nothing of other sessions can be in it.
 */
import { deniedCode } from '../../cdp/calls.ts'
import { cdpError } from '../../cdp/protocol-errors.ts'
import { type Answer, type CdpChannel, type CdpMessage, sendOver } from '../../cdp/router.ts'

/** Reserves the browser for one session; returns a function that ends this, or undefined while others use it. */
export type ClaimBrowser = () => (() => void) | undefined

/** Chromium's own limit when a client sets none, in KiB. */
const mostBufferKb = 200 * 1024

/** Channel of a client that may record traces while its session is alone in the browser. */
export class TracingChannel implements CdpChannel {
  readonly #channel: CdpChannel
  readonly #claim: ClaimBrowser
  #release: (() => void) | undefined
  /** Protocol session that records the trace. */
  #sessionId: string | undefined

  constructor(channel: CdpChannel, claim: ClaimBrowser) {
    this.#channel = channel
    this.#claim = claim
  }

  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>> {
    return sendOver(this, cdpError, method, params, sessionId)
  }

  post(message: CdpMessage, answer: Answer): void {
    const { id, method = '', sessionId } = message
    if (!method.startsWith('Tracing.')) return this.#channel.post(message, answer)
    const error = this.#refusalOf(message)
    if (error) return answer({ ...(id !== undefined && { id }), ...(sessionId && { sessionId }), error })
    this.#channel.post(message, (response) => {
      if (method === 'Tracing.start' && response.error) this.#end()
      answer(response)
    })
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#channel.onEvent((message) => {
      if (this.#isLast(message)) this.#end()
      listener(message)
    })
  }

  onClose(listener: () => void): void {
    this.#channel.onClose(() => {
      this.#end()
      listener()
    })
  }

  close(): void {
    this.#channel.close()
    this.#end()
  }

  /** Returns why a call is refused; undefined when it is allowed, with the browser reserved for a trace that starts. */
  #refusalOf({ method, params = {}, sessionId }: CdpMessage): CdpMessage['error'] {
    if (method === 'Tracing.getCategories') return undefined
    if (method !== 'Tracing.start') return this.#release ? undefined : refused('no trace is being recorded')
    if (this.#release) return refused('a trace is being recorded already')
    const fault = faultIn(params)
    if (fault !== undefined) return refused(fault)
    this.#release = this.#claim()
    if (!this.#release) return refused(isShared)
    this.#sessionId = sessionId
    return undefined
  }

  #isLast({ method, params, sessionId }: CdpMessage): boolean {
    if (this.#sessionId === undefined) return false
    if (method === 'Target.detachedFromTarget') return params?.['sessionId'] === this.#sessionId
    return method === 'Tracing.tracingComplete' && sessionId === this.#sessionId
  }

  /** Lets other sessions use the browser again. */
  #end(): void {
    this.#release?.()
    this.#release = undefined
    this.#sessionId = undefined
  }
}

const isShared =
  'Tracing.start records the whole browser, which other sessions of the key use: close them, or record a trace of the client itself'

function faultIn({
  perfettoConfig,
  tracingBackend = 'auto',
  traceConfig,
}: Record<string, unknown>): string | undefined {
  // A configuration of Perfetto can record the whole machine, and name files.
  if (perfettoConfig !== undefined) return 'perfettoConfig is not allowed: use traceConfig'
  if (tracingBackend !== 'auto' && tracingBackend !== 'chrome') return 'tracingBackend must be auto or chrome'
  const { traceBufferSizeInKb: size } = (traceConfig ?? {}) as { traceBufferSizeInKb?: unknown }
  return typeof size === 'number' && size > mostBufferKb
    ? `traceBufferSizeInKb must be at most ${mostBufferKb}`
    : undefined
}

const refused = (message: string) => ({ code: deniedCode, message })
