/** The tabs of the user's browser as its connector sees them: which there are, which answer, which may be seen. */
import picomatch from 'picomatch'
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { withDeadline } from '../../../core/process/deadline.ts'

/** A tab that has not answered for so long has a script that hangs. */
const answerMs = 700

interface Page {
  readonly targetId: string
  readonly opener: string | undefined
  url: string
  title: string
  responsive: boolean
  crashed: boolean
  visible: boolean
  sessionId: string | undefined
  /** Order of activation and of opening: the greatest was used last. */
  used: number
}

export interface SeenTarget {
  readonly target_id: string
  readonly type: string
  readonly url: string
  readonly title: string
  readonly responsive: boolean
  readonly crashed?: true
}

interface TargetInfo {
  readonly targetId: string
  readonly type: string
  readonly url: string
  readonly title: string
  readonly openerId?: string
}

/** A session of each tab on a channel of the connector's own; the collector listens on the same sessions. */
export class TargetBook {
  readonly #channel: CdpChannel
  readonly #pages = new Map<string, Page>()
  readonly #isNamed: ((id: string, url: string) => boolean) | undefined
  readonly #inScope = new Set<string>()
  readonly #bySession = new Map<string, string>()
  #onChange = () => {}
  #onAttached = (_targetId: string, _sessionId: string) => {}
  #onResponds = (_targetId: string, _responsive: boolean) => {}
  #uses = 0
  readonly #recent: () => Promise<readonly string[]>
  #lastUsed: string | undefined

  /** `tabs` are target ids and globs of addresses; none of them means every tab. `recent` lists pages, the last used first. */
  constructor(channel: CdpChannel, tabs: readonly string[], recent: () => Promise<readonly string[]>) {
    this.#channel = channel
    this.#recent = recent
    if (tabs.length > 0) {
      const matches = tabs.map((tab) => picomatch(tab, { bash: true }))
      this.#isNamed = (id, url) => tabs.includes(id) || matches.some((match) => match(url))
    }
  }

  /** Whether only some tabs exist for consumers. */
  get scoped(): boolean {
    return this.#isNamed !== undefined
  }

  onChange(listener: () => void): void {
    this.#onChange = listener
  }

  /** Told of every session that is opened on a tab in scope. */
  onAttached(listener: (targetId: string, sessionId: string) => void): void {
    this.#onAttached = listener
  }

  /** Told when a tab in scope hangs, and when it answers again. */
  onResponds(listener: (targetId: string, responsive: boolean) => void): void {
    this.#onResponds = listener
  }

  /** The sessions of all tabs. */
  get sessions(): readonly string[] {
    return [...this.#bySession.keys()]
  }

  /** Learns of all tabs; resolves when every one has answered, or was found not to. */
  async start(): Promise<void> {
    // Only what has a tab of its own: frames and workers are found below their pages.
    await this.#channel.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] })
    const { targetInfos } = await this.#channel.send('Target.getTargets', { filter: [{ type: 'page' }] })
    await Promise.all((targetInfos as TargetInfo[]).map((info) => this.#add(info)))
    for (const targetId of (await this.#recent()).toReversed()) this.#use(targetId)
    await this.refresh()
  }

  /** Takes an event of the channel. */
  hear({ method, params = {}, sessionId }: CdpMessage): void {
    if (method === 'Inspector.targetCrashed') this.#setCrashed(sessionId, true)
    if (method === 'Inspector.targetReloadedAfterCrash') this.#setCrashed(sessionId, false)
    // The browser does not tell of every new title.
    if (method === 'Page.loadEventFired') this.#askLater(this.#bySession.get(sessionId ?? ''))
    if (sessionId !== undefined) return
    const info = params['targetInfo'] as TargetInfo | undefined
    if (method === 'Target.targetCreated' && info?.type === 'page') this.#addLater(info)
    else if (method === 'Target.targetInfoChanged' && info?.type === 'page') this.#update(info)
    else if (method === 'Target.targetDestroyed') this.#remove(params['targetId'] as string)
    else if (method === 'Target.detachedFromTarget') this.#detached(params['sessionId'] as string)
  }

  /** Whether the target exists for consumers. */
  includes(targetId: string): boolean {
    return !this.scoped || this.#inScope.has(targetId)
  }

  /** A tab that a consumer has opened is its own. */
  include(targetId: string): void {
    this.#inScope.add(targetId)
  }

  /** Whether a tab hangs; what is not known here does not. */
  hangs(targetId: string): boolean {
    return this.#pages.get(targetId)?.responsive === false
  }

  /** Whether the page of a tab has crashed. */
  crashed(targetId: string): boolean {
    return this.#pages.get(targetId)?.crashed === true
  }

  list(): SeenTarget[] {
    return this.#seen.map(({ targetId, url, title, responsive, crashed }) => {
      return { target_id: targetId, type: 'page', url, title, responsive, ...(crashed && { crashed }) }
    })
  }

  /** The tab that the user looks at, as far as it can be told: among the visible ones the one used last. */
  get active(): string | null {
    const pages = this.#seen.toSorted((a, b) => Number(b.visible) - Number(a.visible) || b.used - a.used)
    return pages[0]?.targetId ?? null
  }

  /** A consumer has brought a tab to the front. */
  activated(targetId: string): void {
    const page = this.#pages.get(targetId)
    if (!page) return
    page.used = ++this.#uses
    page.visible = true
    this.#onChange()
  }

  /** Asks every tab whether it answers and shows. */
  async refresh(): Promise<void> {
    const asked = [...this.#pages.values()].map((page) => this.#ask(page))
    const [[first]] = await Promise.all([this.#recent(), ...asked])
    // What has come to the front of the browser's own order was used by somebody since the last look.
    if (first !== undefined && first !== this.#lastUsed) this.#use(first)
    this.#lastUsed = first ?? this.#lastUsed
    this.#onChange()
  }

  #use(targetId: string): void {
    const page = this.#pages.get(targetId)
    if (page) page.used = ++this.#uses
  }

  get #seen(): Page[] {
    return [...this.#pages.values()].filter(({ targetId }) => this.includes(targetId))
  }

  #addLater(info: TargetInfo): void {
    // A tab that closes while it opens is gone; its end is told of too.
    this.#add(info).then(
      () => this.#onChange(),
      () => this.#remove(info.targetId),
    )
  }

  #askLater(targetId: string | undefined): void {
    const page = this.#pages.get(targetId ?? '')
    if (page) void this.#ask(page).then(() => this.#onChange())
  }

  async #add({ targetId, url, title, openerId }: TargetInfo): Promise<void> {
    if (this.#pages.has(targetId)) return
    const page: Page = {
      targetId,
      url,
      title,
      opener: openerId,
      responsive: true,
      crashed: false,
      visible: false,
      sessionId: undefined,
      used: ++this.#uses,
    }
    this.#pages.set(targetId, page)
    if (this.#isNamed?.(targetId, url) || (openerId !== undefined && this.#inScope.has(openerId))) {
      this.#inScope.add(targetId)
    }
    const { sessionId } = await this.#channel.send('Target.attachToTarget', { targetId, flatten: true })
    page.sessionId = sessionId as string
    this.#bySession.set(page.sessionId, targetId)
    // Reports a crash from before.
    this.#channel.post({ method: 'Inspector.enable', params: {}, sessionId: page.sessionId }, () => {})
    if (this.includes(targetId)) this.#onAttached(targetId, page.sessionId)
    await this.#ask(page)
  }

  #update({ targetId, url, title }: TargetInfo): void {
    const page = this.#pages.get(targetId)
    if (!page || (page.url === url && page.title === title)) return
    page.url = url
    page.title = title
    const newlyNamed = !this.includes(targetId) && this.#isNamed?.(targetId, url)
    if (newlyNamed) {
      this.#inScope.add(targetId)
      if (page.sessionId) this.#onAttached(targetId, page.sessionId)
    }
    this.#onChange()
  }

  #remove(targetId: string): void {
    const page = this.#pages.get(targetId)
    if (!page) return
    this.#pages.delete(targetId)
    this.#inScope.delete(targetId)
    if (page.sessionId) this.#bySession.delete(page.sessionId)
    this.#onChange()
  }

  #detached(sessionId: string): void {
    const page = this.#pages.get(this.#bySession.get(sessionId) ?? '')
    this.#bySession.delete(sessionId)
    if (page) page.sessionId = undefined
  }

  #setCrashed(sessionId: string | undefined, crashed: boolean): void {
    const page = this.#pages.get(this.#bySession.get(sessionId ?? '') ?? '')
    if (!page) return
    page.crashed = crashed
    page.responsive = !crashed
    this.#onChange()
  }

  async #ask(page: Page): Promise<void> {
    const { sessionId } = page
    // A crashed page answers only when it has been reloaded.
    if (!sessionId || page.crashed) return
    const expression = '[document.visibilityState, document.title]'
    const asked = this.#channel.send('Runtime.evaluate', { expression, returnByValue: true }, sessionId)
    // A page that goes while it is asked has given no answer.
    const answer = await withDeadline(asked, { ms: answerMs, value: undefined }).catch(() => undefined)
    const responsive = answer !== undefined
    if (responsive !== page.responsive && this.includes(page.targetId)) this.#onResponds(page.targetId, responsive)
    page.responsive = responsive
    const [visibility, title] = ((answer?.['result'] as { value?: unknown } | undefined)?.value ?? []) as unknown[]
    page.visible = visibility === 'visible'
    // A page without a title is called by its address.
    if (typeof title === 'string' && title !== '') page.title = title
  }
}
