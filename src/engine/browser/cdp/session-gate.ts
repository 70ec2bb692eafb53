/** A consumer's view of one session: its context and nothing else of the browser that it shares with others. */
import { type Answer, type CdpChannel, cdpError, type CdpMessage } from '../../cdp/router.ts'
import { type CdpRules, refusalOf } from './cdp-rules.ts'

/** Domains that reach beyond a page. */
const wide = /^(?:Browser|Target|SystemInfo|Storage|Extensions|Tethering|Tracing|Memory|HeapProfiler|IO|Fetch)\./
/** What of them is about the session's own targets, or tells nothing of others. */
const allowed = new Set([
  'Browser.getVersion',
  'Target.activateTarget',
  'Target.attachToTarget',
  'Target.autoAttachRelated',
  'Target.closeTarget',
  'Target.createTarget',
  'Target.detachFromTarget',
  'Target.getTargetInfo',
  'Target.getTargets',
  'Target.setAutoAttach',
  'Target.setDiscoverTargets',
  'Storage.clearCookies',
  'Storage.getCookies',
  'Storage.setCookies',
])
/** The same on the session of a page, where they are about that page. */
const allowedOnPages = /^(?:Fetch|IO|HeapProfiler|Memory|Tracing)\.|^Storage\.(?!(?:get|set|clear)Cookies)/
/** These take the context that they are about. */
const scoped = new Set(['Target.createTarget', 'Storage.clearCookies', 'Storage.getCookies', 'Storage.setCookies'])
/** What clients send by themselves to set the stage; the session's own settings stay. */
const formalities = new Set(['Browser.setDownloadBehavior', 'Target.getBrowserContexts'])

const denied = (method: string) => ({ code: -32_003, message: `${method} reaches beyond this session` })
const missing = { code: -32_602, message: 'No target with given id found' }

interface TargetInfo {
  readonly targetId: string
  readonly browserContextId?: string
}

export class SessionGate implements CdpChannel {
  readonly #channel: CdpChannel
  readonly #contextId: string
  readonly #rules: CdpRules
  readonly #own = new Set<string>()
  readonly #withheld = new Set<string>()

  constructor(channel: CdpChannel, contextId: string, rules: CdpRules) {
    this.#channel = channel
    this.#contextId = contextId
    this.#rules = rules
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const message = { method, params: params as Record<string, unknown>, ...(sessionId && { sessionId }) }
      this.post(message, ({ result, error }) => (error ? reject(cdpError(method, error)) : resolve(result ?? {})))
    })
  }

  post(message: CdpMessage, answer: Answer): void {
    const { id, sessionId, method = '', params = {} } = message
    const reply = (rest: CdpMessage) =>
      answer({ ...(id !== undefined && { id }), ...(sessionId && { sessionId }), ...rest })
    if (formalities.has(method)) {
      return reply({ result: method === 'Target.getBrowserContexts' ? { browserContextIds: [] } : {} })
    }
    // Without a page every other domain is about the whole browser too (`Security.setIgnoreCertificateErrors`).
    const reaches = sessionId === undefined || (wide.test(method) && !allowedOnPages.test(method))
    if (reaches && !allowed.has(method)) return reply({ error: denied(method) })
    const refused = refusalOf(method, params, this.#rules)
    if (refused) return reply({ error: refused })
    const { browserContextId: named, targetId } = params
    if (named !== undefined && named !== this.#contextId) return reply({ error: denied(method) })
    const own = scoped.has(method) ? { ...message, params: { ...params, browserContextId: this.#contextId } } : message
    const pass = () => this.#channel.post(own, (answered) => answer(this.#seen(method, answered)))
    if (typeof targetId !== 'string' || this.#own.has(targetId)) return pass()
    void this.#isOwn(targetId).then((is) => (is ? pass() : reply({ error: missing })))
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#channel.onEvent((message) => {
      if (this.#shows(message)) listener(message)
    })
  }

  onClose(listener: () => void): void {
    this.#channel.onClose(listener)
  }

  close(): void {
    this.#channel.close()
  }

  async #isOwn(targetId: string): Promise<boolean> {
    try {
      const { targetInfo } = await this.#channel.send('Target.getTargetInfo', { targetId })
      return this.#belongs(targetInfo as TargetInfo)
    } catch {
      // Nothing of that id is there.
      return false
    }
  }

  #belongs({ targetId, browserContextId }: TargetInfo): boolean {
    if (browserContextId !== this.#contextId) return false
    this.#own.add(targetId)
    return true
  }

  #seen(method: string, answered: CdpMessage): CdpMessage {
    const { result } = answered
    if (method !== 'Target.getTargets' || !result) return answered
    const infos = result['targetInfos'] as TargetInfo[]
    return { ...answered, result: { ...result, targetInfos: infos.filter((info) => this.#belongs(info)) } }
  }

  #shows({ method, params = {}, sessionId }: CdpMessage): boolean {
    if (sessionId !== undefined && this.#withheld.has(sessionId)) return false
    const info = params['targetInfo'] as TargetInfo | undefined
    switch (method) {
      case 'Target.targetCreated':
      case 'Target.targetInfoChanged':
        return this.#belongs(info!)
      case 'Target.targetDestroyed':
        return this.#own.delete(params['targetId'] as string)
      case 'Target.targetCrashed':
        return this.#own.has(params['targetId'] as string)
      case 'Target.attachedToTarget':
        // What is below a page of the session is the session's.
        return sessionId !== undefined || this.#belongs(info!) || this.#letGo(params['sessionId'] as string)
      case 'Target.detachedFromTarget':
        return !this.#withheld.delete(params['sessionId'] as string)
      default:
        return true
    }
  }

  /** A page of another session that the browser attached by itself runs on, unseen. */
  #letGo(child: string): false {
    this.#withheld.add(child)
    this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId: child }, () => {})
    this.#channel.post({ method: 'Target.detachFromTarget', params: { sessionId: child } }, () => {})
    return false
  }
}
