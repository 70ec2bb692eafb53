/** Single CDP calls on a browser: routed to the right target, over sessions that stay attached between calls. */
import type { CdpRequest } from '../../core/shapes/relay.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { tooLargeCode } from './message-size.ts'
import type { CdpChannel, CdpMessage } from './router.ts'

/** `target_id` that selects the browser's own session. */
const browserTarget = 'browser'

/** Domains that the browser answers and not a page (`spec: relay 5`). */
const browserDomains = new Set(['Browser', 'Target', 'SystemInfo', 'Extensions', 'Tethering'])

/** Error code for calls that the rules of a session or connector deny. */
export const deniedCode = -32_003
/** Error code for blocked URLs. */
export const blockedCode = -32_004

type CallRequest = Omit<CdpRequest, 'session_id'>

export interface CdpDone {
  readonly result: Record<string, unknown>
  /** Null for the browser itself. */
  readonly targetId: string | null
}

export interface CallHost {
  /** Opens a channel to the browser; called again after the last one has closed. */
  readonly open: () => Promise<CdpChannel>
  /** Returns the page for calls without a target. */
  readonly activeTarget: () => Promise<string | undefined>
  /** Called for events of domains that a caller has enabled, with their target. */
  readonly onEvent: (method: string, params: Record<string, unknown>, targetId: string | undefined) => void
}

/** The protocol session of a target. */
interface TargetSession {
  readonly targetId: string
  /** Calls that wait for a response of the page, which fail when it crashes. */
  readonly waiting: Set<(error: BaxError) => void>
  crashed: boolean
}

/** Methods that the browser answers for a page that has crashed. */
const withoutRenderer =
  /^(?:Page\.(?:close|navigate|navigateToHistoryEntry|getNavigationHistory|reload)|Inspector\.\w+)$/

export class CdpCalls {
  readonly #host: CallHost
  #channel: Promise<CdpChannel> | undefined
  /** Sessions by target; domains that a caller enables there stay enabled for the next call. */
  #sessions = new Map<string, Promise<string>>()
  #targets = new Map<string, TargetSession>()
  #pending = 0

  constructor(host: CallHost) {
    this.#host = host
  }

  /**
   * Calls a method.
   * @throws BaxError `cdp_error` with the protocol's error, `target_not_found`, `timeout`, `too_many_pending`,
   * `payload_too_large`, and errors of opening the channel.
   */
  async call(request: CallRequest, signal: AbortSignal): Promise<CdpDone> {
    if (this.#pending >= limits.relay.pendingCalls) {
      throw new BaxError('too_many_pending', `${limits.relay.pendingCalls} calls are already pending on this browser`)
    }
    this.#pending += 1
    try {
      const { method, timeout_ms: ms } = request
      const error = `${method} timed out after ${ms} ms`
      return await withDeadline(this.#send(request), { ms, error, signal })
    } catch (error) {
      // The end of a session is an error of its own.
      if (!signal.aborted || error !== signal.reason || error instanceof BaxError) throw error
      throw new BaxError('timeout', 'the caller disconnected', { cause: error })
    } finally {
      this.#pending -= 1
    }
  }

  /** Closes the channel; the next call opens a new one. */
  async close(): Promise<void> {
    const channel = this.#channel
    this.#reset()
    // A failed channel needs no closing; its caller received the error.
    await channel?.then(
      (open) => open.close(),
      () => {},
    )
  }

  async #send({ method, params, target_id: requested, max_bytes: maxBytes }: CallRequest): Promise<CdpDone> {
    const channel = await (this.#channel ??= this.#open())
    const targetId = await this.#targetOf(method, requested)
    const session = targetId === null ? undefined : await this.#session(channel, targetId)
    const sent = () => channel.send(method, params, session, maxBytes).catch(asRefusal)
    const result = await (session === undefined ? sent() : this.#unlessCrashed(session, method, sent))
    const bytes = JSON.stringify(result).length
    if (bytes <= maxBytes) return { result, targetId }
    throw tooLarge(`the result has ${bytes} bytes, more than max_bytes (${maxBytes})`)
  }

  /** @throws BaxError `page_crashed` when the page crashes before it answers, or has crashed already. */
  async #unlessCrashed(
    sessionId: string,
    method: string,
    send: () => Promise<Record<string, unknown>>,
  ): Promise<Record<string, unknown>> {
    const target = this.#targets.get(sessionId)
    if (!target || withoutRenderer.test(method)) return send()
    if (target.crashed) throw crashed(target.targetId)
    let onCrash!: (error: BaxError) => void
    const crash = new Promise<Record<string, unknown>>((resolve, reject) => {
      // `Page.crash` succeeds with the crash.
      onCrash = method === 'Page.crash' ? () => resolve({}) : reject
    })
    target.waiting.add(onCrash)
    try {
      return await Promise.race([send(), crash])
    } finally {
      target.waiting.delete(onCrash)
    }
  }

  async #targetOf(method: string, requested: string | undefined): Promise<string | null> {
    if (requested === browserTarget) return null
    if (requested !== undefined) return requested
    if (browserDomains.has(method.slice(0, method.indexOf('.')))) return null
    const active = await this.#host.activeTarget()
    if (active === undefined) {
      throw new BaxError('target_not_found', 'this browser has no page', {
        hint: 'open one with Target.createTarget, or name a target_id',
      })
    }
    return active
  }

  async #open(): Promise<CdpChannel> {
    try {
      const channel = await this.#host.open()
      channel.onEvent((message) => this.#onEvent(message))
      channel.onClose(() => this.#reset())
      return channel
    } catch (error) {
      this.#channel = undefined
      throw error
    }
  }

  #session(channel: CdpChannel, targetId: string): Promise<string> {
    let session = this.#sessions.get(targetId)
    if (!session) {
      session = channel.send('Target.attachToTarget', { targetId, flatten: true }).then(
        ({ sessionId }) => {
          this.#targets.set(sessionId as string, { targetId, waiting: new Set(), crashed: false })
          // Report an earlier crash. Ignore failures of a page that closes meanwhile.
          channel.send('Inspector.enable', {}, sessionId as string).catch(() => {})
          return sessionId as string
        },
        (cause: BaxError) => {
          this.#sessions.delete(targetId)
          if (cause.code !== 'cdp_error') throw cause
          throw new BaxError('target_not_found', `no target has the id ${targetId}`, {
            cause,
            hint: 'list the targets',
          })
        },
      )
      this.#sessions.set(targetId, session)
    }
    return session
  }

  #onEvent({ method, params = {}, sessionId }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') {
      const gone = params['sessionId'] as string
      this.#sessions.delete(this.#targets.get(gone)?.targetId ?? '')
      this.#targets.delete(gone)
    }
    const target = sessionId === undefined ? undefined : this.#targets.get(sessionId)
    if (target && method === 'Inspector.targetCrashed') {
      target.crashed = true
      for (const onCrash of target.waiting) onCrash(crashed(target.targetId))
    }
    if (target && method === 'Inspector.targetReloadedAfterCrash') target.crashed = false
    // The engine itself attaches and detaches.
    const isOwn = method === 'Target.attachedToTarget' || method === 'Target.detachedFromTarget'
    if (!isOwn || sessionId !== undefined) this.#host.onEvent(method!, params, target?.targetId)
  }

  #reset(): void {
    this.#channel = undefined
    this.#sessions = new Map()
    this.#targets = new Map()
  }
}

const crashed = (targetId: string): BaxError =>
  new BaxError('page_crashed', `the page of target ${targetId} has crashed`, {
    hint: 'reload it with Page.reload',
    details: { target_id: targetId },
  })

const tooLarge = (message: string, cause?: BaxError): BaxError =>
  new BaxError('payload_too_large', message, {
    cause,
    hint: `request less, or raise max_bytes up to ${limits.relay.maxResultBytes}`,
  })

function asRefusal(error: BaxError): never {
  const code = error.code === 'cdp_error' ? (error.details as { code: number }).code : undefined
  if (code === tooLargeCode) throw tooLarge(error.message, error)
  if (code === blockedCode) throw new BaxError('url_blocked', 'URL blocked', { cause: error })
  throw code === deniedCode ? new BaxError('method_denied', error.message, { cause: error }) : error
}
