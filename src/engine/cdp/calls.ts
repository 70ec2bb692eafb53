/** Single CDP calls on a browser: routed to the right target, over sessions that stay attached between calls. */
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { tooLargeCode } from './message-size.ts'
import type { CdpChannel, CdpMessage } from './router.ts'
import { browserTarget, isBrowserMethod } from './routing.ts'

/** How the gate beside the browser marks what its policy refuses. */
export const deniedCode = -32_003
/** The same for an address that may not be opened. */
export const blockedCode = -32_004

export interface CdpRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly target_id?: string | undefined
  readonly timeout_ms: number
  readonly max_bytes: number
}

export interface CdpDone {
  readonly result: Record<string, unknown>
  /** Null for the browser itself. */
  readonly targetId: string | null
}

export interface CallGround {
  /** Opens a channel to the browser; called again after the last one has closed. */
  readonly open: () => Promise<CdpChannel>
  /** The page that calls without a target go to. */
  readonly activeTarget: () => Promise<string | undefined>
  /** An event of a domain that a caller has enabled, with the target it is of. */
  readonly onEvent: (method: string, params: Record<string, unknown>, targetId: string | undefined) => void
}

/** The session of a target. */
interface TargetSession {
  readonly targetId: string
  /** Calls that wait for an answer of the page: they fail when it crashes, because no answer will come. */
  readonly waiting: Set<(error: BaxError) => void>
  crashed: boolean
}

/** Methods that the browser answers for a page that has crashed. */
const withoutRenderer =
  /^(?:Page\.(?:close|navigate|navigateToHistoryEntry|getNavigationHistory|reload)|Inspector\.\w+)$/

export class CdpCalls {
  readonly #ground: CallGround
  #channel: Promise<CdpChannel> | undefined
  /** Sessions by their target; what a caller has enabled there stays enabled for the next call. */
  #sessions = new Map<string, Promise<string>>()
  #targets = new Map<string, TargetSession>()
  #pending = 0

  constructor(ground: CallGround) {
    this.#ground = ground
  }

  /**
   * @throws BaxError `cdp_error` with the protocol's answer, `target_not_found`, `timeout`, `too_many_pending`,
   * `payload_too_large`, and what opening the channel throws.
   */
  async call(request: CdpRequest, signal: AbortSignal): Promise<CdpDone> {
    if (this.#pending >= limits.relay.pendingCalls) {
      throw new BaxError('too_many_pending', `${limits.relay.pendingCalls} calls are under way on this browser`)
    }
    this.#pending += 1
    try {
      const { method, timeout_ms: ms } = request
      const error = `${method} was not answered within ${ms} ms`
      return await withDeadline(this.#send(request), { ms, error, signal })
    } catch (error) {
      if (!signal.aborted || error !== signal.reason) throw error
      throw new BaxError('timeout', 'the caller went away', { cause: error })
    } finally {
      this.#pending -= 1
    }
  }

  /** Detaches from everything; the next call begins anew. */
  async close(): Promise<void> {
    const channel = this.#channel
    this.#forget()
    // One that could not be opened needs no closing; whoever opened it was told.
    await channel?.then(
      (open) => open.close(),
      () => {},
    )
  }

  async #send({ method, params, target_id: wanted, max_bytes: maxBytes }: CdpRequest): Promise<CdpDone> {
    const channel = await (this.#channel ??= this.#open())
    const targetId = await this.#targetOf(method, wanted)
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
      // The crash is what this method is for.
      onCrash = method === 'Page.crash' ? () => resolve({}) : reject
    })
    target.waiting.add(onCrash)
    try {
      return await Promise.race([send(), crash])
    } finally {
      target.waiting.delete(onCrash)
    }
  }

  async #targetOf(method: string, wanted: string | undefined): Promise<string | null> {
    if (wanted === browserTarget) return null
    if (wanted !== undefined) return wanted
    if (isBrowserMethod(method)) return null
    const active = await this.#ground.activeTarget()
    if (active === undefined) {
      throw new BaxError('target_not_found', 'this browser has no page', {
        hint: 'open one with Target.createTarget, or name a target_id',
      })
    }
    return active
  }

  async #open(): Promise<CdpChannel> {
    try {
      const channel = await this.#ground.open()
      channel.onEvent((message) => this.#hear(message))
      channel.onClose(() => this.#forget())
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
          // Reports a crash from before. A page that closes meanwhile has none to report.
          channel.send('Inspector.enable', {}, sessionId as string).catch(() => {})
          return sessionId as string
        },
        (cause: BaxError) => {
          this.#sessions.delete(targetId)
          if (cause.code !== 'cdp_error') throw cause
          throw new BaxError('target_not_found', `there is no target ${targetId}`, { cause, hint: 'see its targets' })
        },
      )
      this.#sessions.set(targetId, session)
    }
    return session
  }

  #setCrashed(target: TargetSession, isCrashed: boolean): void {
    target.crashed = isCrashed
    if (!isCrashed) return
    for (const onCrash of target.waiting) onCrash(crashed(target.targetId))
  }

  #hear({ method, params = {}, sessionId }: CdpMessage): void {
    if (method === 'Target.detachedFromTarget') {
      const gone = params['sessionId'] as string
      this.#sessions.delete(this.#targets.get(gone)?.targetId ?? '')
      this.#targets.delete(gone)
    }
    const target = sessionId === undefined ? undefined : this.#targets.get(sessionId)
    if (target && method === 'Inspector.targetCrashed') this.#setCrashed(target, true)
    if (target && method === 'Inspector.targetReloadedAfterCrash') this.#setCrashed(target, false)
    // Attaching and detaching is our own doing.
    const ours = method === 'Target.attachedToTarget' || method === 'Target.detachedFromTarget'
    if (!ours || sessionId !== undefined) this.#ground.onEvent(method!, params, target?.targetId)
  }

  #forget(): void {
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
    hint: `ask for less, or raise max_bytes up to ${limits.relay.maxResultBytes}`,
  })

function asRefusal(error: BaxError): never {
  const code = error.code === 'cdp_error' ? (error.details as { code: number }).code : undefined
  if (code === tooLargeCode) throw tooLarge(error.message, error)
  if (code === blockedCode) throw new BaxError('url_blocked', 'URL blocked', { cause: error })
  throw code === deniedCode ? new BaxError('method_denied', error.message, { cause: error }) : error
}
