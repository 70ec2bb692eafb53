/** CDP channel limited to one session: hides the other contexts of the shared browser. */
import { isOpenable } from '../../../core/net/urls.ts'
import { blockedCode, deniedCode } from '../../cdp/calls.ts'
import { type Answer, type CdpChannel, cdpError, type CdpMessage, sendOver } from '../../cdp/router.ts'

/** Domains that reach beyond a page. */
const browserDomains =
  /^(?:Browser|Target|SystemInfo|Storage|Extensions|Tethering|Tracing|Memory|HeapProfiler|IO|Fetch)\./
/** Methods of these domains that concern only the session's targets, or reveal nothing about others. */
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
/** Methods that are also allowed on the session of a page, where they concern that page. */
const allowedOnPages = /^(?:Fetch|IO|HeapProfiler|Memory|Tracing)\.|^Storage\.(?!(?:get|set|clear)Cookies)/
/** Methods that take a context ID. */
const scoped = new Set(['Target.createTarget', 'Storage.clearCookies', 'Storage.getCookies', 'Storage.setCookies'])
/** Setup calls of clients that are answered without effect, so that the session's settings stay. */
const ignored = new Set(['Browser.setDownloadBehavior', 'Target.getBrowserContexts'])

const denied = (method: string) => ({ code: deniedCode, message: `${method} reaches beyond this session` })
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
  readonly #hiddenSessions = new Set<string>()

  constructor(channel: CdpChannel, contextId: string, rules: CdpRules) {
    this.#channel = channel
    this.#contextId = contextId
    this.#rules = rules
  }

  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>> {
    return sendOver(this, cdpError, method, params, sessionId)
  }

  post(message: CdpMessage, answer: Answer): void {
    const { id, sessionId, method = '', params = {} } = message
    const reply = (rest: CdpMessage) =>
      answer({ ...(id !== undefined && { id }), ...(sessionId && { sessionId }), ...rest })
    if (ignored.has(method)) {
      return reply({ result: method === 'Target.getBrowserContexts' ? { browserContextIds: [] } : {} })
    }
    // Without a page session, other domains affect the whole browser too (`Security.setIgnoreCertificateErrors`).
    const reaches = sessionId === undefined || (browserDomains.test(method) && !allowedOnPages.test(method))
    if (reaches && !allowed.has(method)) return reply({ error: denied(method) })
    const refused = refusalOf(method, params, this.#rules)
    if (refused) return reply({ error: refused })
    const { browserContextId: named, targetId } = params
    if (named !== undefined && named !== this.#contextId) return reply({ error: denied(method) })
    const own = scoped.has(method) ? { ...message, params: { ...params, browserContextId: this.#contextId } } : message
    const pass = () => this.#channel.post(own, (response) => answer(this.#filterResult(method, response)))
    if (typeof targetId !== 'string' || this.#own.has(targetId)) return pass()
    void this.#isOwn(targetId).then((is) => (is ? pass() : reply({ error: missing })))
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#channel.onEvent((message) => {
      if (this.#isVisible(message)) listener(message)
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
      // No such target exists.
      return false
    }
  }

  #belongs({ targetId, browserContextId }: TargetInfo): boolean {
    if (browserContextId !== this.#contextId) return false
    this.#own.add(targetId)
    return true
  }

  #filterResult(method: string, response: CdpMessage): CdpMessage {
    const { result } = response
    if (method !== 'Target.getTargets' || !result) return response
    const infos = result['targetInfos'] as TargetInfo[]
    return { ...response, result: { ...result, targetInfos: infos.filter((info) => this.#belongs(info)) } }
  }

  #isVisible({ method, params = {}, sessionId }: CdpMessage): boolean {
    if (sessionId !== undefined && this.#hiddenSessions.has(sessionId)) return false
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
        // Children of the session's pages belong to the session.
        return sessionId !== undefined || this.#belongs(info!) || this.#hideSession(params['sessionId'] as string)
      case 'Target.detachedFromTarget':
        return !this.#hiddenSessions.delete(params['sessionId'] as string)
      default:
        return true
    }
  }

  /** Detaches from a page of another session that the browser attached automatically, and lets it continue. */
  #hideSession(child: string): false {
    this.#hiddenSessions.add(child)
    this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId: child }, () => {})
    this.#channel.post({ method: 'Target.detachFromTarget', params: { sessionId: child } }, () => {})
    return false
  }
}

/** Methods that open or load the URL in their `url`. */
const opening = new Set([
  'Page.navigate',
  'Target.createTarget',
  'Network.loadNetworkResource',
  'Fetch.continueRequest',
])

/** Methods that affect all sessions of the browser, even when called on a page. */
const browserWide = /^(?:Tracing\.|Memory\.\w*Pressure)/

export interface CdpRules {
  /** Whether clients are trusted with this machine: with its files and folders, and with browser-wide methods. */
  readonly files: boolean
  /** @throws BaxError `url_blocked` for a URL that the egress policy blocks. */
  readonly checkUrl: (url: URL) => void
}

/** Returns why a call is refused; undefined when it is allowed. */
export function refusalOf(method: string, params: Record<string, unknown>, rules: CdpRules): CdpMessage['error'] {
  const { url } = params
  if (opening.has(method) && typeof url === 'string' && isForbidden(url, rules))
    return { code: blockedCode, message: 'URL blocked' }
  if (rules.files) return undefined
  if (browserWide.test(method)) return denied(method)
  // A hidden page would not count towards the limit of tabs.
  if (method === 'Target.createTarget' && params['hidden'] === true)
    return { code: deniedCode, message: 'hidden pages are not allowed' }
  if (!namesFiles(method, params)) return undefined
  return { code: deniedCode, message: `${method} accesses files of the machine that runs the browser` }
}

/** Returns whether a URL must not be opened; invalid ones are harmless. */
function isForbidden(text: string, { checkUrl }: CdpRules): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (!isOpenable(url.href)) return true
  try {
    if (url.protocol === 'http:' || url.protocol === 'https:') checkUrl(url)
    return false
  } catch {
    return true
  }
}

function namesFiles(method: string, params: Record<string, unknown>): boolean {
  if (method === 'DOM.setFileInputFiles' || method === 'Page.setDownloadBehavior') return true
  const data = params['data'] as { files?: unknown } | undefined
  return method === 'Input.dispatchDragEvent' && Array.isArray(data?.files) && data.files.length > 0
}
