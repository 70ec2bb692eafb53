/** CDP channel limited to one session: hides the other contexts of the shared browser. */
import { isOwnCall } from './binding-calls.ts'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import { deniedCode } from '../../cdp/calls.ts'
import { cdpError } from '../../cdp/protocol-errors.ts'
import { type Answer, type CdpChannel, type CdpMessage, sendOver } from '../../cdp/router.ts'
import type { ContextDownloads } from './download-events.ts'
import type { ClientContext, ClientContexts } from './client-contexts.ts'
import { ClientDownloads } from './client-downloads.ts'
import { withoutServerAddress } from './server-address.ts'
import { type CdpRules, denied, isAllowed, refusalOf, scoped } from './session-rules.ts'

export interface GateFacts {
  readonly contextId: string
  readonly rules: CdpRules
  /** Contexts of the session's clients. */
  readonly contexts: ClientContexts
  readonly downloads: ContextDownloads
  /** Override of the user agent that the session has; undefined if it has the browser's own. */
  readonly userAgent: Readonly<Record<string, unknown>> | undefined
  /** Folder where the browser stores downloads by ID. */
  readonly artifacts: string
  /** Returns the path of a file that a client uploads. @throws BaxError `invalid_data`. */
  readonly upload: (path: string) => string
}

const missing = { code: -32_602, message: 'No target with given id found' }

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly browserContextId?: string
}

/** Puppeteer attaches to the browser itself, which has the permissions of the client's own session. */
const isBrowser = ({ type }: TargetInfo): boolean => type === 'browser'

/** Methods that take the ID of a window. */
const windowMethods = new Set(['Browser.getWindowBounds', 'Browser.setWindowBounds', 'Browser.setContentsSize'])

const isUserAgent = (method: string): boolean => /^(?:Emulation|Network)\.setUserAgentOverride$/.test(method)

type Params = Record<string, unknown>
type Reply = (rest: CdpMessage) => void

export class SessionGate implements CdpChannel {
  readonly #channel: CdpChannel
  readonly #facts: GateFacts
  readonly #downloads: ClientDownloads
  /** Contexts that this client has created. */
  readonly #contexts = new Map<string, ClientContext>()
  /** Targets of the session. */
  readonly #own = new Set<string>()
  /** Further browser-level sessions of the client. */
  readonly #roots = new Set<string>()
  /** IDs of the windows of the session's pages. */
  readonly #windows = new Set<unknown>()
  /** Contexts of the pages that the client is attached to, by protocol session. */
  readonly #pages = new Map<string, string>()
  readonly #hiddenSessions = new Set<string>()
  #listener: (message: CdpMessage) => void = () => {}
  #closed = false

  constructor(channel: CdpChannel, facts: GateFacts) {
    this.#channel = channel
    this.#facts = facts
    const { rules, artifacts, contextId, downloads } = facts
    this.#downloads = new ClientDownloads({ files: rules.files, artifacts }, (event) => this.#listener(event))
    this.#downloads.follow(contextId, downloads)
    channel.onEvent((message) => {
      if (!isOwnCall(message) && this.#isVisible(message)) this.#listener(withoutServerAddress(message))
    })
  }

  send(method: string, params?: object, sessionId?: string): Promise<Record<string, unknown>> {
    return sendOver(this, cdpError, method, params, sessionId)
  }

  post(message: CdpMessage, answer: Answer): void {
    const { id, sessionId, method = '', params = {} } = message
    const reply: Reply = (rest) => answer({ ...(id !== undefined && { id }), ...(sessionId && { sessionId }), ...rest })
    const isRoot = this.#isRoot(sessionId)
    const { browserContextId: named, targetId } = params
    if (named !== undefined && !this.#isOwnContext(named)) return reply({ error: denied(method) })
    const answered = this.#answerOf(message)
    if (answered) return void answered.then(reply, (error: unknown) => reply({ error: errorOf(error) }))
    const concernsWindow = windowMethods.has(method) && this.#windows.has(params['windowId'])
    if (!concernsWindow && !isAllowed(method, isRoot)) return reply({ error: denied(method) })
    const refused = refusalOf(method, params, this.#facts.rules)
    if (refused) return reply({ error: refused })
    let own: CdpMessage
    try {
      own = { ...message, params: this.#completed(message) }
    } catch (error) {
      return reply({ error: errorOf(error) })
    }
    const pass = () => this.#channel.post(own, (response) => answer(this.#filterResult(method, response)))
    if (typeof targetId !== 'string' || this.#own.has(targetId)) return pass()
    void this.#mayUse(targetId, method, params).then((may) => (may ? pass() : reply({ error: missing })))
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#listener = listener
  }

  onClose(listener: () => void): void {
    this.#channel.onClose(() => {
      this.#cleanUp()
      listener()
    })
  }

  close(): void {
    this.#cleanUp()
    this.#channel.close()
  }

  /** Closes the client's contexts, which end with its connection. */
  #cleanUp(): void {
    this.#closed = true
    this.#downloads.close()
    // Ignore failures: the browser is gone, or the session closes the contexts.
    for (const context of this.#contexts.values()) context.close().catch(() => {})
    this.#contexts.clear()
  }

  #isRoot(sessionId: string | undefined): boolean {
    return sessionId === undefined || this.#roots.has(sessionId)
  }

  #isOwnContext(contextId: unknown): boolean {
    return contextId === this.#facts.contextId || this.#contexts.has(contextId as string)
  }

  /** Returns the answer to calls that the browser does not receive. */
  #answerOf({ method, params = {}, sessionId }: CdpMessage): Promise<CdpMessage> | undefined {
    switch (method) {
      case 'Target.getBrowserContexts':
        return Promise.resolve({ result: { browserContextIds: [...this.#contexts.keys()] } })
      case 'Target.createBrowserContext':
        return this.#createContext(params)
      case 'Target.disposeBrowserContext':
        return this.#disposeContext(params)
      case 'Browser.setDownloadBehavior':
      case 'Page.setDownloadBehavior':
        return Promise.resolve(this.#configureDownloads(params, sessionId))
      // Extensions are loaded into a browser, and sessions have none. Stagehand asks for them when it connects.
      case 'Extensions.getExtensions':
        return Promise.resolve({ result: { extensions: [] } })
      default:
        return undefined
    }
  }

  async #createContext({ proxyServer, proxyBypassList, originsWithUniversalNetworkAccess: origins }: Params) {
    if (proxyServer || proxyBypassList)
      return refusal('a context uses the proxy of its session: set proxy when you create the session')
    if (Array.isArray(origins) && origins.length > 0)
      return refusal('originsWithUniversalNetworkAccess is not supported')
    const context = await this.#facts.contexts.open()
    const { contextId, downloads } = context
    if (this.#closed) await context.close()
    this.#contexts.set(contextId, context)
    this.#downloads.follow(contextId, downloads)
    return { result: { browserContextId: contextId } }
  }

  async #disposeContext({ browserContextId: id }: Params): Promise<CdpMessage> {
    const context = this.#contexts.get(id as string)
    if (!context) return refusal('only contexts that this client has created can be disposed of')
    await context.close()
    this.#contexts.delete(context.contextId)
    this.#downloads.unfollow(context.contextId)
    return { result: {} }
  }

  #configureDownloads(params: Params, sessionId: string | undefined): CdpMessage {
    const ofPage = sessionId === undefined ? undefined : this.#pages.get(sessionId)
    const contextId = (params['browserContextId'] as string | undefined) ?? ofPage ?? this.#facts.contextId
    const error = this.#downloads.configure(contextId, params, this.#isRoot(sessionId) ? sessionId : undefined)
    return error ? { error } : { result: {} }
  }

  /**
   * Adds the context or user agent of the session to a call, and replaces the names of files to upload by their paths.
   * @throws BaxError `invalid_data`.
   */
  #completed({ method = '', params = {}, sessionId }: CdpMessage): Params {
    if (isUserAgent(method)) return this.#withUserAgent(params, sessionId)
    if (scoped.has(method)) return { browserContextId: this.#facts.contextId, ...params }
    const { files, data } = params as { files?: unknown; data?: { files?: unknown } }
    if (method === 'DOM.setFileInputFiles' && Array.isArray(files)) return { ...params, files: this.#paths(files) }
    if (method === 'Input.dispatchDragEvent' && Array.isArray(data?.files))
      return { ...params, data: { ...data, files: this.#paths(data.files) } }
    return params
  }

  #withUserAgent(params: Params, sessionId: string | undefined): Params {
    const { userAgent: own, contextId } = this.#facts
    // Playwright sets an empty user agent along with a language.
    if (!own || params['userAgent'] === '' || params['userAgent'] === own['userAgent']) return { ...params, ...own }
    // In its own pages the session sets its user agent again on every navigation.
    if (this.#pages.get(sessionId ?? '') !== contextId) return params
    throw new BaxError('invalid_data', 'the session has its own user agent: set user_agent when you create the session')
  }

  #paths(files: readonly unknown[]): string[] {
    return files.map((file) => this.#facts.upload(String(file)))
  }

  async #mayUse(targetId: string, method: string, { flatten }: Params): Promise<boolean> {
    try {
      const { targetInfo } = await this.#channel.send('Target.getTargetInfo', { targetId })
      if (this.#belongs(targetInfo as TargetInfo)) return true
      const reads = method === 'Target.getTargetInfo' || (method === 'Target.attachToTarget' && flatten === true)
      return reads && isBrowser(targetInfo as TargetInfo)
    } catch {
      // No such target exists.
      return false
    }
  }

  #belongs({ targetId, browserContextId }: TargetInfo): boolean {
    if (!this.#isOwnContext(browserContextId)) return false
    this.#own.add(targetId)
    return true
  }

  #filterResult(method: string, response: CdpMessage): CdpMessage {
    const { result } = response
    if (method === 'Target.attachToBrowserTarget' && result) this.#roots.add(result['sessionId'] as string)
    if (method === 'Browser.getWindowForTarget' && result) this.#windows.add(result['windowId'])
    if (method !== 'Target.getTargets' || !result) return response
    const infos = result['targetInfos'] as TargetInfo[]
    return { ...response, result: { ...result, targetInfos: infos.filter((info) => this.#belongs(info)) } }
  }

  #isVisible(message: CdpMessage): boolean {
    const { method = '', params = {}, sessionId } = message
    if (sessionId !== undefined && this.#hiddenSessions.has(sessionId)) return false
    const info = params['targetInfo'] as TargetInfo | undefined
    switch (method) {
      case 'Target.targetCreated':
      case 'Target.targetInfoChanged':
        return this.#belongs(info!) || isBrowser(info!)
      case 'Target.targetDestroyed':
        return this.#own.delete(params['targetId'] as string)
      case 'Target.targetCrashed':
        return this.#own.has(params['targetId'] as string)
      case 'Target.attachedToTarget':
        return this.#attached(params['sessionId'] as string, info!, sessionId)
      case 'Target.detachedFromTarget':
        return this.#detached(params['sessionId'] as string)
      default:
        // At the browser level, nothing else concerns only this session.
        return !this.#isRoot(sessionId)
    }
  }

  #attached(child: string, info: TargetInfo, parent: string | undefined): boolean {
    if (isBrowser(info)) {
      this.#roots.add(child)
      return true
    }
    // Children of the session's pages belong to the session.
    if (!this.#isRoot(parent) || this.#belongs(info)) {
      if (info.browserContextId !== undefined) this.#pages.set(child, info.browserContextId)
      return true
    }
    this.#hide(child, parent)
    return false
  }

  #detached(child: string): boolean {
    this.#roots.delete(child)
    this.#pages.delete(child)
    this.#downloads.forget(child)
    return !this.#hiddenSessions.delete(child)
  }

  /** Detaches from a page of another session that the browser attached automatically, and lets it continue. */
  #hide(child: string, parent: string | undefined): void {
    this.#hiddenSessions.add(child)
    const ignore = () => {}
    this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId: child }, ignore)
    const detach: CdpMessage = { method: 'Target.detachFromTarget', params: { sessionId: child } }
    this.#channel.post(parent === undefined ? detach : { ...detach, sessionId: parent }, ignore)
  }
}

const refusal = (message: string): CdpMessage => ({ error: { code: deniedCode, message } })

const errorOf = (error: unknown) => ({ code: deniedCode, message: asBaxError(error).message })
