/** What a consumer may do and see of the user's browser: the policy, the tabs in scope, and no tab that hangs. */
import type { Answer, CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { deniedCode } from '../../cdp/calls.ts'
import type { RelayPolicy } from '../../../core/relay-words.ts'
import { refusal } from '../policy.ts'
import type { TargetBook } from './targets.ts'

export interface GateRules {
  /** A client that sets the stage by itself: what the policy keeps as it is, is answered as done. */
  readonly lenient: boolean
  readonly policy: RelayPolicy
  readonly targets: TargetBook
}

/** Chromium's own for what does not exist. */
const missingCode = -32_602

/** These reach beyond the tabs in scope. */
const wideMethods =
  /^(?:Storage\.|Browser\.(?!getVersion)|SystemInfo\.|Network\.(?:getAllCookies|clearBrowser\w+)$|Tracing\.)/

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  url: string
  title: string
}

/** Stands between one consumer and its channel. */
export class Gate implements CdpChannel {
  readonly #channel: CdpChannel
  readonly #rules: GateRules
  /** Sessions of targets that do not exist for the consumer. */
  readonly #withheld = new Set<string>()
  /** Targets of the tabs that the consumer goes through to their pages, by their sessions. */
  readonly #tabs = new Map<string, string>()
  #listener: (message: CdpMessage) => void = () => {}
  /** Tabs that the consumer has asked for and that are not known as its own yet; what is told meanwhile waits. */
  #creating = 0
  readonly #early: CdpMessage[] = []

  constructor(channel: CdpChannel, rules: GateRules) {
    this.#channel = channel
    this.#rules = rules
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
    if (this.#rules.lenient && isFormality(this.#rules.policy, message)) return reply({ result: {} })
    const denied = this.#denial(message)
    if (denied) return reply({ error: denied })
    const creates = method === 'Target.createTarget' && this.#rules.targets.scoped
    if (creates) this.#creating += 1
    this.#channel.post(message, (answered) => {
      this.#learn(method!, params ?? {}, answered.result)
      if (creates && --this.#creating === 0) for (const event of this.#early.splice(0)) this.#tell(event)
      answer(answered)
    })
  }

  onEvent(listener: (message: CdpMessage) => void): void {
    this.#listener = listener
    this.#channel.onEvent((message) => {
      if (this.#creating > 0) this.#early.push(message)
      else this.#tell(message)
    })
  }

  onClose(listener: () => void): void {
    this.#channel.onClose(listener)
  }

  close(): void {
    this.#channel.close()
  }

  #tell(message: CdpMessage): void {
    if (this.#shows(message)) this.#listener(message)
  }

  #denial(message: CdpMessage): { code: number; message: string } | undefined {
    const { method = '', params = {} } = message
    const why = refusal(this.#rules.policy, { method, params })
    if (why) return { code: deniedCode, message: why }
    const { targets } = this.#rules
    const targetId = params['targetId']
    if (typeof targetId === 'string' && !targets.includes(targetId)) {
      return { code: missingCode, message: 'No target with given id found' }
    }
    if (targets.scoped && wideMethods.test(method)) {
      return { code: deniedCode, message: `${method} reaches beyond the tabs that this browser shares` }
    }
    return undefined
  }

  #learn(method: string, params: Record<string, unknown>, result: Record<string, unknown> | undefined): void {
    const { targets } = this.#rules
    if (method === 'Target.createTarget' && typeof result?.['targetId'] === 'string')
      targets.include(result['targetId'])
    if (method === 'Target.activateTarget' && result) targets.activated(params['targetId'] as string)
    if (method === 'Target.getTargets' && result) {
      const infos = result['targetInfos'] as TargetInfo[]
      result['targetInfos'] = infos.filter((info) => !this.#isHidden(info)).map((info) => this.#nameless(info))
    }
  }

  #shows({ method, params = {}, sessionId }: CdpMessage): boolean {
    if (sessionId !== undefined && this.#withheld.has(sessionId)) return false
    const info = params['targetInfo'] as TargetInfo | undefined
    if (info) this.#nameless(info)
    if (method === 'Target.attachedToTarget') return this.#attached(params['sessionId'] as string, info!, sessionId)
    if (method === 'Target.detachedFromTarget') return !this.#withheld.delete(params['sessionId'] as string)
    // A client that is told of a tab waits for it.
    if (method === 'Target.targetCreated') return !this.#isHidden(info!) && !this.#hangs(info!)
    if (method === 'Target.targetInfoChanged') return !this.#isHidden(info!)
    return true
  }

  /** What must not be seen is let run, and let go of. */
  #attached(child: string, info: TargetInfo, parent: string | undefined): boolean {
    if (!this.#isHidden(info) && !this.#hangs(info)) {
      if (info.type === 'tab') this.#tabs.set(child, info.targetId)
      return true
    }
    this.#withheld.add(child)
    const gone = () => {}
    this.#channel.post({ method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId: child }, gone)
    const detach: CdpMessage = { method: 'Target.detachFromTarget', params: { sessionId: child } }
    this.#channel.post(parent === undefined ? detach : { ...detach, sessionId: parent }, gone)
    const tab = this.#tabs.get(parent ?? '')
    if (tab !== undefined) this.#emptyTab(parent!, tab)
    return false
  }

  /** Puppeteer waits for the page of every tab: one whose page does not exist for it is told to be gone. */
  #emptyTab(session: string, targetId: string): void {
    this.#tabs.delete(session)
    this.#listener({ method: 'Target.detachedFromTarget', params: { sessionId: session, targetId } })
    this.#listener({ method: 'Target.targetDestroyed', params: { targetId } })
    this.#withheld.add(session)
    this.#channel.post({ method: 'Target.detachFromTarget', params: { sessionId: session } }, () => {})
  }

  /** In a scope only its pages exist at the browser's level; what is below a page belongs to it. */
  #isHidden({ targetId, type }: TargetInfo): boolean {
    const { targets } = this.#rules
    if (!targets.scoped) return false
    if (type === 'page') return !targets.includes(targetId)
    return !['iframe', 'worker', 'browser', 'tab'].includes(type)
  }

  /** One that hangs would hold up a client that waits for all of its tabs. */
  #hangs({ targetId, type }: TargetInfo): boolean {
    return this.#rules.lenient && type === 'page' && this.#rules.targets.hangs(targetId)
  }

  /** The frame around a page, which Puppeteer goes through to it: in a scope it does not tell what it shows. */
  #nameless(info: TargetInfo): TargetInfo {
    if (this.#rules.targets.scoped && info.type === 'tab') info.url = info.title = ''
    return info
  }
}

/** What clients send by themselves to set the stage is answered as done where the policy keeps the user's own setting. */
function isFormality(policy: RelayPolicy, { method, params = {} }: CdpMessage): boolean {
  const downloads = method === 'Browser.setDownloadBehavior' || method === 'Page.setDownloadBehavior'
  return policy !== 'full' && downloads && params['browserContextId'] === undefined
}
