/**
 * Playwright's transport with overrides: changes or adds calls of `Emulation.*` on the protocol sessions through which
 * Playwright drives pages. Each session restores its own settings after a navigation to another process, so settings of
 * a second session would compete with Playwright's; and new pages get them before they run.
 */
import type { BrowserContext, ConnectOverCDPTransport } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CdpMessage } from '../../cdp/router.ts'
import { isForeignCall } from './binding-calls.ts'
import { withoutLargeBody } from '../network/sent-bodies.ts'

/** Changes one setting of pages. */
export interface Override {
  /** Method of the call, `Emulation.setTimezoneOverride`. */
  readonly method: string
  /** Returns the parameters, given those of Playwright's latest call on the session. */
  readonly params: (given: Params | undefined) => Params
  /** Call that undoes it where Playwright has made no call. */
  readonly clear: Pick<CdpMessage, 'method' | 'params'>
  /** Not for frames with a process of their own. */
  readonly pagesOnly?: boolean
  /** Also for further sessions of a page, which would reset the setting after a navigation. */
  readonly everySession?: boolean
}

type Params = Record<string, unknown>

/** The overrides of one context. */
export interface Overrides {
  /** Sets the override of a method in all pages, or removes it. @throws BaxError `action_failed` when a page refuses. */
  set(method: string, override: Override | undefined): Promise<void>
}

const byContext = new WeakMap<BrowserContext, Overrides>()

/** Makes emulation available in a context. */
export const enableEmulation = (context: BrowserContext, overrides: Overrides): void =>
  void byContext.set(context, overrides)

/** Returns the overrides of a context; undefined where emulation is not available. */
export const overridesOf = (context: BrowserContext): Overrides | undefined => byContext.get(context)

interface PageSession {
  readonly targetId: string
  readonly contextId: string | undefined
  readonly isPage: boolean
  /** Whether Playwright drives the page with it. */
  driven: boolean
  crashed: boolean
  /** Parameters of Playwright's latest call, by method. */
  readonly given: Map<string, Params>
  /** Overrides that were sent, by method. */
  readonly sent: Map<string, Override>
}

interface TargetInfo {
  readonly type: string
  readonly targetId: string
  readonly browserContextId?: string
}

/** IDs of our own calls; Playwright counts up from 1 and never reaches them. */
const firstId = 2 ** 30

export class OverrideTransport implements ConnectOverCDPTransport {
  readonly #inner: ConnectOverCDPTransport
  readonly #sessions = new Map<string, PageSession>()
  /** Overrides by method, by context ID. */
  readonly #overrides = new Map<string | undefined, Map<string, Override>>()
  readonly #pending = new Map<number, { readonly sessionId: string; answer(message: CdpMessage): void }>()
  #lastId = firstId
  #listener: ((message: object) => void) | undefined

  constructor(inner: ConnectOverCDPTransport) {
    this.#inner = inner
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has one listener
    inner.onmessage = (message) => this.#receive(message as CdpMessage)
  }

  set onmessage(listener: ((message: object) => void) | undefined) {
    this.#listener = listener
  }

  /** Playwright may set its listener after the connection has closed. */
  set onclose(listener: (() => void) | undefined) {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has one listener
    this.#inner.onclose = () => {
      this.#abandon()
      listener?.()
    }
  }

  /** Returns the overrides of a context, for connections to a user's browser of all its pages. */
  of(contextId?: string): Overrides {
    return {
      set: async (method, override) => {
        const known = this.#overrides.get(contextId) ?? new Map<string, Override>()
        this.#overrides.set(contextId, known)
        if (override) known.set(method, override)
        else known.delete(method)
        const sessions = [...this.#sessions].filter(
          ([, { driven, crashed, sent, contextId: own }]) =>
            (driven || sent.has(method) || override?.everySession) && !crashed && (contextId ?? own) === own,
        )
        const failures = await Promise.all(sessions.map(([id, session]) => this.#apply(id, session, method)))
        const failure = failures.find((message) => message !== undefined)
        if (failure !== undefined) throw new BaxError('action_failed', failure)
      },
    }
  }

  send(message: CdpMessage): void {
    const { id, method = '', params = {}, sessionId } = message
    // Playwright would request a resource again to read its body, whatever its size.
    if (method === 'Network.loadNetworkResource') {
      const answer = { ...(id !== undefined && { id }), ...(sessionId && { sessionId }), error: notAgain }
      return void setImmediate(() => this.#listener?.(answer))
    }
    if (method === 'Target.disposeBrowserContext') this.#overrides.delete(params['browserContextId'] as string)
    const session = this.#sessions.get(sessionId ?? '')
    if (session && method.startsWith('Emulation.')) {
      session.given.set(method, params)
      const override = this.#overrideOf(session, method)
      if (override) {
        session.sent.set(method, override)
        return this.#inner.send({ ...message, params: override.params(params) })
      }
    }
    if (session && method === 'Runtime.runIfWaitingForDebugger' && !session.driven) {
      session.driven = true
      const known = this.#overridesOf(session)
      // The page starts whether it accepts them or not, as with Playwright's own settings.
      for (const each of known.keys()) if (!session.given.has(each)) void this.#apply(sessionId!, session, each)
    }
    this.#inner.send(message)
  }

  close(): void {
    this.#inner.close()
  }

  #overridesOf(session: PageSession): Map<string, Override> {
    return this.#overrides.get(session.contextId) ?? this.#overrides.get(undefined) ?? new Map<string, Override>()
  }

  #overrideOf(session: PageSession, method: string): Override | undefined {
    const override = this.#overridesOf(session).get(method)
    return override?.pagesOnly && !session.isPage ? undefined : override
  }

  /** Sends the current value of a setting; returns why the page refuses it. */
  async #apply(sessionId: string, session: PageSession, method: string): Promise<string | undefined> {
    const override = this.#overrideOf(session, method)
    const given = session.given.get(method) ?? this.#drivenSession(session)?.given.get(method)
    const earlier = session.sent.get(method)
    if (override) session.sent.set(method, override)
    else session.sent.delete(method)
    if (!override && !earlier) return undefined
    const call = override
      ? { method, params: override.params(given) }
      : given
        ? { method, params: given }
        : earlier!.clear
    const { error } = await this.#call({ ...call, sessionId })
    return error && !ignored.test(error.message) ? error.message : undefined
  }

  #drivenSession({ targetId }: PageSession): PageSession | undefined {
    return [...this.#sessions.values()].find((session) => session.driven && session.targetId === targetId)
  }

  #call(message: CdpMessage & { sessionId: string }): Promise<CdpMessage> {
    const id = ++this.#lastId
    return new Promise((answer) => {
      this.#pending.set(id, { sessionId: message.sessionId, answer })
      this.#inner.send({ ...message, id })
    })
  }

  /** Ends the calls of a session that will not answer them, or all calls. */
  #abandon(sessionId?: string): void {
    for (const [id, call] of this.#pending) {
      if (sessionId !== undefined && call.sessionId !== sessionId) continue
      this.#pending.delete(id)
      call.answer({ error: closed })
    }
  }

  #receive(message: CdpMessage): void {
    const own = message.id === undefined ? undefined : this.#pending.get(message.id)
    if (own) {
      this.#pending.delete(message.id!)
      return own.answer(message)
    }
    this.#track(message)
    if (!isForeignCall(message)) this.#listener?.(withoutLargeBody(message))
  }

  #track({ method, params = {}, sessionId = '' }: CdpMessage): void {
    if (method === 'Target.attachedToTarget') {
      const { type, targetId, browserContextId } = params['targetInfo'] as TargetInfo
      if (type !== 'page' && type !== 'iframe') return
      const attached: PageSession = {
        targetId,
        contextId: browserContextId,
        isPage: type === 'page',
        driven: false,
        crashed: false,
        given: new Map(),
        sent: new Map(),
      }
      const id = params['sessionId'] as string
      this.#sessions.set(id, attached)
      if (!this.#drivenSession(attached)) return
      // A further session of a page.
      for (const [each, override] of this.#overridesOf(attached))
        if (override.everySession) void this.#apply(id, attached, each)
    } else if (method === 'Target.detachedFromTarget') {
      this.#sessions.delete(params['sessionId'] as string)
      this.#abandon(params['sessionId'] as string)
    } else if (method === 'Inspector.targetCrashed' || method === 'Inspector.targetReloadedAfterCrash') {
      const session = this.#sessions.get(sessionId)
      if (session) session.crashed = method === 'Inspector.targetCrashed'
      if (session?.crashed) this.#abandon(sessionId)
    }
  }
}

/** Pages that close meanwhile; and pages of one process, which share its locale and time zone. */
const ignored = /already in effect|Session with given id not found|[Tt]arget closed|has been closed|navigated or closed/

const closed = { code: -32_000, message: 'Target closed' }
const notAgain = { code: -32_000, message: 'resources are not requested again' }
