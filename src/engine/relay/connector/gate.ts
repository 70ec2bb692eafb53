/** Restricts what a consumer can do and see: the policy, the shared tabs, and no tab that hangs. */
import type { Answer, CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { deniedCode } from '../../cdp/calls.ts'
import type { RelayPolicy } from '../../../core/relay-names.ts'
import { isInternalPage, refusal, refusalIn } from '../policy.ts'
import type { ChannelKind } from '../tunnel/messages.ts'
import type { TargetTracker, TargetInfo } from './targets.ts'

export interface GateOptions {
  readonly consumer: ChannelKind
  readonly policy: RelayPolicy
  readonly targets: TargetTracker
}

/** Chromium's error code for a missing target. */
const missingCode = -32_602

/** Methods that affect more than the shared tabs. */
const wideMethods =
  /^(?:Storage\.|Browser\.(?!getVersion)|SystemInfo\.|Network\.(?:getAllCookies|clearBrowser\w+)$|Tracing\.)/

/** Filters the messages between one consumer and its channel. */
export class Gate implements CdpChannel {
  readonly #channel: CdpChannel
  readonly #rules: GateOptions
  /** Report setup calls that the policy blocks as successful, for clients that cannot start without them. */
  readonly #lenient: boolean
  /** Sessions of targets that are hidden from the consumer. */
  readonly #hidden = new Set<string>()
  /** Target IDs of the pages that the sessions of the consumer are attached to. */
  readonly #pages = new Map<string, string>()
  /** Target IDs of sessions of type `tab`, through which Puppeteer attaches to pages. */
  readonly #tabs = new Map<string, string>()
  /** IDs of contexts that the consumer has created. */
  readonly #contexts = new Set<unknown>()
  /** IDs of the downloads of shared tabs. */
  readonly #downloads = new Set<string>()
  /** Beginnings of downloads until it is known that their tab is shared. */
  readonly #begun = new Map<string, CdpMessage>()
  #listener: (message: CdpMessage) => void = () => {}
  /** Number of tabs that the consumer is creating; events are held back until they are known to be its own. */
  #creating = 0
  readonly #heldBack: CdpMessage[] = []

  constructor(channel: CdpChannel, rules: GateOptions) {
    this.#channel = channel
    this.#rules = rules
    this.#lenient = rules.consumer !== 'cdp'
  }

  async send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const denied = this.#denial({ method, params: params as Record<string, unknown>, ...(sessionId && { sessionId }) })
    if (denied) throw new Error(denied.message)
    return this.#channel.send(method, params, sessionId)
  }

  post(message: CdpMessage, answer: Answer): void {
    const { id, sessionId, method, params } = message
    const reply = (rest: CdpMessage) =>
      answer({ ...(id !== undefined && { id }), ...(sessionId && { sessionId }), ...rest })
    if (this.#lenient && isSkippableSetup(this.#rules.policy, message)) {
      if (method === 'Browser.setDownloadBehavior') this.#reportDownloads(message)
      return reply({ result: {} })
    }
    const denied = this.#denial(message)
    if (denied) return reply({ error: denied })
    const isCreation = method === 'Target.createTarget' && this.#rules.targets.scoped
    if (isCreation) this.#creating += 1
    this.#channel.post(message, (answered) => {
      this.#inspect(method!, params ?? {}, answered.result)
      if (isCreation && --this.#creating === 0) for (const event of this.#heldBack.splice(0)) this.#deliver(event)
      answer(answered)
    })
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#listener = listener
    this.#channel.onEvent((message) => {
      if (this.#creating > 0) this.#heldBack.push(message)
      else this.#deliver(message)
    })
  }

  onClose(listener: () => void): void {
    this.#channel.onClose(listener)
  }

  close(): void {
    this.#channel.close()
  }

  #deliver(message: CdpMessage): void {
    if (this.#shows(message)) this.#listener(message)
    const begun = this.#begun.get(message.params?.['guid'] as string)
    if (message.method === 'Page.downloadWillBegin' && begun) this.#deliver(begun)
  }

  /** Enables the events of downloads, which keep the user's settings. */
  #reportDownloads({ method, params, sessionId }: CdpMessage): void {
    const events = { behavior: 'default', eventsEnabled: params?.['eventsEnabled'] === true }
    this.#channel.post({ method, params: events, ...(sessionId && { sessionId }) }, () => {})
  }

  #denial(message: CdpMessage): { code: number; message: string } | undefined {
    const { method = '', params = {} } = message
    const { policy, consumer } = this.#rules
    const { targets } = this.#rules
    const page = targets.find(this.#pages.get(message.sessionId ?? '') ?? '')
    const why = refusal(policy, { method, params }, consumer) ?? (page && refusalIn(page.url, policy, method))
    if (why) return { code: deniedCode, message: why }
    const targetId = params['targetId']
    if (typeof targetId === 'string' && !targets.includes(targetId)) {
      return { code: missingCode, message: 'No target with given id found' }
    }
    if (targets.scoped && wideMethods.test(method) && !this.#contexts.has(params['browserContextId'])) {
      return { code: deniedCode, message: `${method} reaches beyond the shared tabs` }
    }
    return undefined
  }

  #inspect(method: string, params: Record<string, unknown>, result: Record<string, unknown> | undefined): void {
    const { targets } = this.#rules
    if (method === 'Target.createTarget' && typeof result?.['targetId'] === 'string')
      targets.include(result['targetId'])
    if (method === 'Target.createBrowserContext' && result) this.#contexts.add(result['browserContextId'])
    if (method === 'Target.activateTarget' && result) targets.activated(params['targetId'] as string)
    if (method === 'Target.getTargets' && result) {
      const infos = result['targetInfos'] as TargetInfo[]
      result['targetInfos'] = infos.filter((info) => !this.#isHidden(info)).map((info) => this.#anonymize(info))
    }
  }

  #shows({ method, params = {}, sessionId }: CdpMessage): boolean {
    if (sessionId !== undefined && this.#hidden.has(sessionId)) return false
    const info = params['targetInfo'] as TargetInfo | undefined
    if (info) this.#anonymize(info)
    if (method === 'Target.attachedToTarget') return this.#attached(params['sessionId'] as string, info!, sessionId)
    if (method === 'Target.detachedFromTarget') {
      this.#pages.delete(params['sessionId'] as string)
      return !this.#hidden.delete(params['sessionId'] as string)
    }
    // Clients wait for every tab that is reported to them.
    if (method === 'Target.targetCreated') return !this.#isHidden(info!) && !this.#hangs(info!)
    if (method === 'Target.targetInfoChanged') return !this.#isHidden(info!)
    if (this.#rules.targets.scoped) return this.#isSharedDownload({ method, params })
    return true
  }

  /** Hides the events of the browser about downloads of other tabs: only events of a page tell which tab it is. */
  #isSharedDownload(event: CdpMessage): boolean {
    const guid = event.params!['guid'] as string
    if (event.method === 'Page.downloadWillBegin') this.#downloads.add(guid)
    if (event.method === 'Browser.downloadWillBegin') {
      if (this.#downloads.has(guid)) {
        this.#begun.delete(guid)
        return true
      }
      this.#begun.set(guid, event)
      return false
    }
    if (event.method !== 'Browser.downloadProgress') return true
    const isOver = event.params!['state'] !== 'inProgress'
    if (isOver) this.#begun.delete(guid)
    return isOver ? this.#downloads.delete(guid) : this.#downloads.has(guid)
  }

  /** Resumes and detaches targets that must stay hidden. */
  #attached(child: string, info: TargetInfo, parent: string | undefined): boolean {
    if (!this.#isHidden(info) && !this.#hangs(info)) {
      if (info.type === 'tab') this.#tabs.set(child, info.targetId)
      if (info.type === 'page') this.#pages.set(child, info.targetId)
      return true
    }
    this.#hidden.add(child)
    const ignore = () => {}
    this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId: child }, ignore)
    const detach: CdpMessage = { method: 'Target.detachFromTarget', params: { sessionId: child } }
    this.#channel.post(parent === undefined ? detach : { ...detach, sessionId: parent }, ignore)
    const tab = this.#tabs.get(parent ?? '')
    if (tab !== undefined) this.#hideTab(parent!, tab)
    return false
  }

  /** Puppeteer waits for the page of every tab: report a tab whose page is hidden as closed. */
  #hideTab(session: string, targetId: string): void {
    this.#tabs.delete(session)
    this.#listener({ method: 'Target.detachedFromTarget', params: { sessionId: session, targetId } })
    this.#listener({ method: 'Target.targetDestroyed', params: { targetId } })
    this.#hidden.add(session)
    this.#channel.post({ method: 'Target.detachFromTarget', params: { sessionId: session } }, () => {})
  }

  /**
   * Hides the browser's own interface, and other pages when only some tabs are shared; frames and workers belong to
   * their pages.
   */
  #isHidden({ targetId, type, url, browserContextId }: TargetInfo): boolean {
    const { targets, policy } = this.#rules
    if (policy !== 'full' && type !== 'page' && type !== 'tab' && isInternalPage(url)) return true
    if (!targets.scoped) return false
    if (type === 'page' && this.#contexts.has(browserContextId)) targets.include(targetId)
    if (type === 'page') return !targets.includes(targetId)
    return !['iframe', 'worker', 'browser', 'tab'].includes(type)
  }

  /** Clients that wait for all tabs would wait forever for one that hangs. */
  #hangs({ targetId, type }: TargetInfo): boolean {
    return this.#lenient && type === 'page' && this.#rules.targets.find(targetId)?.responsive === false
  }

  /** Removes URL and title of a `tab` target, which Puppeteer needs to see, when only some tabs are shared. */
  #anonymize(info: TargetInfo): TargetInfo {
    if (this.#rules.targets.scoped && info.type === 'tab') info.url = info.title = ''
    return info
  }
}

/** Whether a call is part of the setup of clients and can be reported as successful without effect. */
function isSkippableSetup(policy: RelayPolicy, { method, params = {} }: CdpMessage): boolean {
  const downloads = method === 'Browser.setDownloadBehavior' || method === 'Page.setDownloadBehavior'
  return policy !== 'full' && downloads && params['browserContextId'] === undefined
}
