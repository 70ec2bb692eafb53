/** Tracks the tabs of the user's browser: which exist, respond, and are shared. */
import picomatch from 'picomatch'
import type { CdpChannel, CdpMessage } from '../../cdp/router.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { EventParams } from '../cdp-types.ts'
import type { FromConnector } from '../tunnel/messages.ts'

type Target = Extract<FromConnector, { type: 'targets' }>['targets'][number]

/** Time after which a tab without a response counts as hanging, in milliseconds. */
const responseMs = 700

interface Page {
  readonly targetId: string
  url: string
  title: string
  responsive: boolean
  crashed: boolean
  visible: boolean
  sessionId: string | undefined
  /** Order of activation and opening: the highest was used last. */
  used: number
}

export type TargetInfo = EventParams<'Target.targetCreated'>['targetInfo']

interface TargetHandlers {
  /** Lists the pages, most recently used first. */
  recent(): Promise<readonly string[]>
  onChange(): void
  /** Called for every session that is opened on a shared tab. */
  onAttached(targetId: string, sessionId: string): void
  /** Called when a shared tab hangs, and when it responds again. */
  onResponds(targetId: string, responsive: boolean): void
}

/** Holds a session for each tab on the connector's own channel; the collector uses the same sessions. */
export class TargetTracker {
  readonly #channel: CdpChannel
  readonly #pages = new Map<string, Page>()
  readonly #matches: ((id: string, url: string) => boolean) | undefined
  readonly #inScope = new Set<string>()
  readonly #bySession = new Map<string, string>()
  readonly #handlers: TargetHandlers
  #uses = 0
  #lastUsed: string | undefined

  /** @param tabs Target IDs and URL globs; none means every tab. */
  constructor(channel: CdpChannel, tabs: readonly string[], handlers: TargetHandlers) {
    this.#channel = channel
    this.#handlers = handlers
    if (tabs.length > 0) {
      const globs = tabs.map((tab) => picomatch(tab, { bash: true }))
      this.#matches = (id, url) => tabs.includes(id) || globs.some((match) => match(url))
    }
  }

  /** Whether only some tabs are shared with consumers. */
  get scoped(): boolean {
    return this.#matches !== undefined
  }

  get sessions(): readonly string[] {
    return [...this.#bySession.keys()]
  }

  /** Finds all tabs; resolves when each has responded or timed out. */
  async start(): Promise<void> {
    // Pages only: frames and workers are found below them.
    await this.#channel.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] })
    const { targetInfos } = await this.#channel.send('Target.getTargets', { filter: [{ type: 'page' }] })
    await Promise.all((targetInfos as TargetInfo[]).map((info) => this.#add(info)))
    for (const targetId of (await this.#handlers.recent()).toReversed()) this.#markUsed(targetId)
    await this.refresh()
  }

  /** Handles an event of the channel. */
  handleEvent({ method, params = {}, sessionId }: CdpMessage): void {
    if (method === 'Inspector.targetCrashed') this.#setCrashed(sessionId, true)
    if (method === 'Inspector.targetReloadedAfterCrash') this.#setCrashed(sessionId, false)
    // The browser does not report every new title.
    if (method === 'Page.loadEventFired') this.#checkLater(this.#bySession.get(sessionId ?? ''))
    if (sessionId !== undefined) return
    const info = params['targetInfo'] as TargetInfo | undefined
    if (method === 'Target.targetCreated' && info?.type === 'page') this.#addLater(info)
    else if (method === 'Target.targetInfoChanged' && info?.type === 'page') this.#update(info)
    else if (method === 'Target.targetDestroyed') this.#remove(params['targetId'] as string)
    else if (method === 'Target.detachedFromTarget') this.#detached(params['sessionId'] as string)
  }

  /** Whether a target is shared with consumers. */
  includes(targetId: string): boolean {
    return !this.scoped || this.#inScope.has(targetId)
  }

  /** Shares a tab that a consumer has opened. */
  include(targetId: string): void {
    this.#inScope.add(targetId)
  }

  /** Returns the state of a tab; undefined for unknown tabs. */
  find(targetId: string): Pick<Page, 'url' | 'responsive' | 'crashed'> | undefined {
    return this.#pages.get(targetId)
  }

  list(): Target[] {
    return this.#shared.map(({ targetId, url, title, responsive, crashed }) => {
      return { target_id: targetId, type: 'page', url, title, responsive, ...(crashed && { crashed }) }
    })
  }

  /** Best guess of the tab that the user is viewing: the most recently used of the visible ones. */
  get active(): string | null {
    const pages = this.#shared.toSorted((a, b) => Number(b.visible) - Number(a.visible) || b.used - a.used)
    return pages[0]?.targetId ?? null
  }

  /** Notes that a consumer has activated a tab. */
  activated(targetId: string): void {
    const page = this.#pages.get(targetId)
    if (!page) return
    page.used = ++this.#uses
    page.visible = true
    this.#handlers.onChange()
  }

  /** Checks whether every tab responds and is visible. */
  async refresh(): Promise<void> {
    const checks = [...this.#pages.values()].map((page) => this.#check(page))
    const [[first]] = await Promise.all([this.#handlers.recent(), ...checks])
    // A page that moved to the front of the browser's list was used since the last check.
    if (first !== undefined && first !== this.#lastUsed) this.#markUsed(first)
    this.#lastUsed = first ?? this.#lastUsed
    this.#handlers.onChange()
  }

  #markUsed(targetId: string): void {
    const page = this.#pages.get(targetId)
    if (page) page.used = ++this.#uses
  }

  get #shared(): Page[] {
    return [...this.#pages.values()].filter(({ targetId }) => this.includes(targetId))
  }

  #addLater(info: TargetInfo): void {
    // Attaching fails for a tab that closes at once; its end is reported, too.
    this.#add(info).then(
      () => this.#handlers.onChange(),
      () => this.#remove(info.targetId),
    )
  }

  #checkLater(targetId: string | undefined): void {
    const page = this.#pages.get(targetId ?? '')
    if (page) void this.#check(page).then(() => this.#handlers.onChange())
  }

  async #add({ targetId, url, title, openerId }: TargetInfo): Promise<void> {
    if (this.#pages.has(targetId)) return
    const page: Page = {
      targetId,
      url,
      title,
      responsive: true,
      crashed: false,
      visible: false,
      sessionId: undefined,
      used: ++this.#uses,
    }
    this.#pages.set(targetId, page)
    if (this.#matches?.(targetId, url) || (openerId !== undefined && this.#inScope.has(openerId))) {
      this.#inScope.add(targetId)
    }
    const { sessionId } = await this.#channel.send('Target.attachToTarget', { targetId, flatten: true })
    page.sessionId = sessionId as string
    this.#bySession.set(page.sessionId, targetId)
    // Enabling the domain reports an earlier crash.
    this.#channel.post({ method: 'Inspector.enable', params: {}, sessionId: page.sessionId }, () => {})
    if (this.includes(targetId)) this.#handlers.onAttached(targetId, page.sessionId)
    await this.#check(page)
  }

  #update({ targetId, url, title }: TargetInfo): void {
    const page = this.#pages.get(targetId)
    if (!page || (page.url === url && page.title === title)) return
    page.url = url
    page.title = title
    const newlyNamed = !this.includes(targetId) && this.#matches?.(targetId, url)
    if (newlyNamed) {
      this.#inScope.add(targetId)
      if (page.sessionId) this.#handlers.onAttached(targetId, page.sessionId)
    }
    this.#handlers.onChange()
  }

  #remove(targetId: string): void {
    const page = this.#pages.get(targetId)
    if (!page) return
    this.#pages.delete(targetId)
    this.#inScope.delete(targetId)
    if (page.sessionId) this.#bySession.delete(page.sessionId)
    this.#handlers.onChange()
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
    this.#handlers.onChange()
  }

  async #check(page: Page): Promise<void> {
    const { sessionId } = page
    // A crashed page does not respond until it is reloaded.
    if (!sessionId || page.crashed) return
    const expression = '[document.visibilityState, document.title]'
    const evaluation = this.#channel.send('Runtime.evaluate', { expression, returnByValue: true }, sessionId)
    // The call fails for a page that closes meanwhile.
    const answer = await withDeadline(evaluation, { ms: responseMs, value: undefined }).catch(() => undefined)
    const responsive = answer !== undefined
    if (responsive !== page.responsive && this.includes(page.targetId))
      this.#handlers.onResponds(page.targetId, responsive)
    page.responsive = responsive
    const [visibility, title] = ((answer?.['result'] as { value?: unknown } | undefined)?.value ?? []) as unknown[]
    page.visible = visibility === 'visible'
    // For a page without a title the browser reports its URL as title; keep that.
    if (typeof title === 'string' && title !== '') page.title = title
  }
}
