/** One browser process driven by Playwright: opens and closes contexts, and keeps a few warm ones ready. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright'
import { protocolText } from '../../cdp/protocol-errors.ts'
import type { CdpChannel } from '../../cdp/router.ts'
import type { Log } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { succeeds } from '../../../core/succeeds.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { Origin } from '../../../core/process/turns.ts'
import type { Egress } from '../../egress/egress.ts'
import { installClipboard } from '../clipboard/clipboard.ts'
import { GuardedUpstream } from '../clipboard/guarded-upstream.ts'
import { connectPlaywright, type DrivenContext, withClientHints } from '../cdp/driver.ts'
import { type BrowserKind, hasWindows, hidesAutomation } from './flags.ts'
import type { KeyShares, Sharing } from '../shares/key-shares.ts'
import { type BrowserProcess, launchFailure, startBrowser } from './launch.ts'
import { Health, type HealthRules } from './health.ts'
import type { LocatedBrowser } from '../install/locate.ts'
import { playwright } from '../cdp/playwright.ts'
import { type ClientContext, ClientContexts } from '../cdp/client-contexts.ts'
import { type GateFacts, SessionGate } from '../cdp/session-gate.ts'
import type { CdpRules } from '../cdp/session-rules.ts'
import { type ClaimBrowser, TracingChannel } from '../cdp/session-tracing.ts'
import { type Channel, Upstream } from '../cdp/upstream.ts'
import { plainUserAgent } from '../cdp/user-agents.ts'
import { WarmContexts } from './warm-contexts.ts'

/** Facts about the session of a CDP client. */
export interface CdpClientFacts extends Pick<GateFacts, 'upload'> {
  readonly claimBrowser: ClaimBrowser
}

/** An open context. */
export interface OpenContext extends Omit<DrivenContext, 'contextId'> {
  /** The first page, which may still be starting; rejects when it cannot be opened. */
  readonly page: Promise<Page>
  /** Opens a CDP channel limited to this context, and to those that its client creates. */
  openCdp(client: CdpClientFacts): Promise<CdpChannel>
  /** Contexts that CDP clients create, which close with this one. */
  readonly clientContexts: ClientContexts
  /** Sets the key that the connections of its pages belong to. */
  belongTo(owner: Origin): void
  /** Closes the context at once, even if a page hangs. */
  close(): Promise<void>
}

export interface WorkerFacts {
  readonly id: string
  readonly kind: BrowserKind
  readonly browser: LocatedBrowser
  readonly egress: Egress
  readonly shares: KeyShares
  readonly webmcp: boolean
  /** Key of its sessions. */
  readonly owner: Origin
  /** Whether CDP clients of its sessions may access local files. */
  readonly filesAllowed: boolean
  /** Called on the first response of the browser. */
  readonly onFound: () => void
  readonly health: Pick<HealthRules, 'times' | 'onChange'>
  readonly log: Log
}

export class BrowserWorker {
  readonly id: string
  readonly kind: BrowserKind
  /** `Chrome/156.0.8078.79` */
  readonly product: string
  readonly userAgent: string
  readonly pid: number
  readonly upstream: Upstream
  /** Folder of the browser, which also holds the downloads of its sessions. */
  readonly folder: string
  readonly health: Health
  readonly #process: BrowserProcess
  readonly #control: Channel
  readonly #newContext: (options: BrowserContextOptions) => Promise<DrivenContext>
  readonly #log: Log
  readonly #rules: CdpRules
  readonly #egress: Egress
  readonly #artifacts: string
  readonly #warm: WarmContexts<OpenContext>
  #ending = false

  private constructor(facts: WorkerFacts, parts: Awaited<ReturnType<typeof connect>>) {
    this.id = facts.id
    this.kind = facts.kind
    this.product = parts.version.product
    this.userAgent = parts.version.userAgent
    this.pid = parts.pid
    this.upstream = parts.upstream
    this.folder = parts.process.folder
    this.#process = parts.process
    this.#control = parts.control
    this.#newContext = parts.newContext
    this.#artifacts = parts.artifacts
    this.#log = facts.log
    this.#egress = facts.egress
    this.health = new Health({
      ...facts.health,
      ping: () => this.#control.send('Browser.getVersion'),
      lastReceivedAt: () => this.upstream.lastReceivedAt,
      onDead: () => {
        // Pages can cause it.
        this.#log('warn', 'a browser does not answer and is killed', { worker: this.id, pid: this.pid })
        const report = (error: Error) =>
          this.#log('error', 'could not clean up after a browser', { worker: this.id, error: error.message })
        this.#process.end().catch(report)
      },
    })
    this.#warm = new WarmContexts({
      make: async () => opened(await this.#make(this.defaults)),
      isEnding: () => this.#isEnding,
      onError: (what, error) => {
        // Ignore failures while the browser ends.
        if (!this.#isEnding) this.#log('warn', `could not ${what} a warm page`, { error: error.message })
      },
    })
    this.upstream.onClose(() => this.health.stop())
    this.#rules = { files: facts.filesAllowed, checkUrl: (url) => facts.egress.checkLiteral(url) }
  }

  /** Starts a browser. @throws BaxError `browser_failed` with the last lines of its stderr. */
  static async launch(facts: WorkerFacts): Promise<BrowserWorker> {
    const { browser, kind, egress, shares, owner, webmcp } = facts
    const shell = browser.kind === 'headless-shell'
    const extra = await egress.switches()
    const process = await startBrowser({ path: browser.path, shell, kind, webmcp, extra, share: { shares, owner } })
    try {
      // Loading Playwright takes as long as starting the browser, so do both at once.
      setImmediate(playwright)
      const { launchMs: ms } = limits.pool
      const deadline = { ms, error: `it did not answer within ${ms} ms` }
      return new BrowserWorker(facts, await withDeadline(connect(process, kind, facts.onFound), deadline))
    } catch (cause) {
      throw await launchFailure(process, browser.path, cause)
    }
  }

  /** `156.0.8078.79` */
  get version(): string {
    return versionIn(this.product)
  }

  /** Options of warm contexts. */
  get defaults(): BrowserContextOptions {
    return {
      viewport: { ...limits.session.viewport },
      ...(hidesAutomation(this.kind) && { userAgent: plainUserAgent(this.userAgent) }),
    }
  }

  get warm(): number {
    return this.#warm.count
  }

  /**
   * Opens a context. Without `options`, returns a warm one if available, or else one whose page is still starting: most
   * of the time goes into the start of its process, which a session that is closed at once does not need.
   */
  async open(options?: BrowserContextOptions): Promise<OpenContext> {
    if (!options) return this.#warm.take() ?? this.#openMissing()
    return opened(await this.#make({ ...this.defaults, ...options }))
  }

  async #openMissing(): Promise<OpenContext> {
    const context = await this.#make(this.defaults)
    void succeeds(context.page).then((hasPage) => this.#warm.missed(hasPage))
    return context
  }

  /** Sets how many warm contexts to keep, and how many further ones the browser has slots for. */
  keepWarm(count: number, capacity: number): void {
    this.#warm.keep(count, capacity)
  }

  get #isEnding(): boolean {
    return this.#ending || this.upstream.closed
  }

  get sharing(): Sharing | undefined {
    return this.#process.sharing
  }

  async end(): Promise<void> {
    this.#ending = true
    await this.#process.end()
  }

  /** Opens a context through a proxy of its own, unless the options have one. */
  async #make(options: BrowserContextOptions): Promise<OpenContext> {
    if (options.proxy) return { ...(await this.#makeThrough(options)), belongTo: () => {} }
    const route = await this.#egress.route()
    const ended = new AbortController()
    const end = () => {
      ended.abort()
      return route.close()
    }
    try {
      const context = await this.#makeThrough({ ...options, proxy: route.proxy })
      this.upstream.onClose(() => void end(), ended.signal)
      return { ...context, belongTo: route.belongTo, close: () => context.close().finally(end) }
    } catch (error) {
      await end()
      throw error
    }
  }

  async #makeThrough(options: BrowserContextOptions): Promise<Omit<OpenContext, 'belongTo'>> {
    const { context, contextId, ...driven } = await this.#newContext(options)
    const contexts = new ClientContexts(() => this.#openForClient(options))
    try {
      await installClipboard(context, { hidden: hidesAutomation(this.kind) })
      const closing = new AbortController()
      // Only after the response to the creation: a session that is closed at once needs no page.
      const page = nextTurn().then(() =>
        // Playwright never reports that the context of a page that is being opened was closed.
        withDeadline(() => context.newPage(), { signal: closing.signal }),
      )
      // Users of the page receive the error.
      page.catch(() => {})
      const { userAgent } = options
      const agent = userAgent === undefined ? undefined : withClientHints({ userAgent }, this.version)
      const own = { contextId, contexts, downloads: driven.downloads, userAgent: agent }
      const facts = { ...own, rules: this.#rules, artifacts: this.#artifacts }
      const openCdp: OpenContext['openCdp'] = async ({ claimBrowser, ...client }) => {
        // Clients expect a page; they can open one themselves if that failed.
        await page.catch(() => {})
        const channel = await this.upstream.openChannel()
        const own = this.#rules.files ? channel : new TracingChannel(channel, claimBrowser)
        return new SessionGate(own, { ...facts, ...client })
      }
      const close = async () => {
        closing.abort(new BaxError('session_closed', 'the context was closed before its page was opened'))
        await Promise.all([contexts.close(), this.#close(context, contextId)])
      }
      return { context, page, ...driven, openCdp, clientContexts: contexts, close }
    } catch (error) {
      await this.#close(context, contextId)
      throw error
    }
  }

  /** Opens an empty context with the proxy and user agent of a session; the client sets everything else itself. */
  async #openForClient({ proxy, userAgent }: BrowserContextOptions): Promise<ClientContext> {
    const options = { viewport: null, ...(proxy && { proxy }), ...(userAgent !== undefined && { userAgent }) }
    const { pagesOpened: _, ...driven } = await this.#newContext(options)
    await installClipboard(driven.context, { hidden: hidesAutomation(this.kind) })
    return { ...driven, close: () => this.#close(driven.context, driven.contextId) }
  }

  async #close(context: BrowserContext, contextId: string): Promise<void> {
    if (this.upstream.closed) return
    // An unresponsive browser closes the context when it answers again, or is killed.
    if (!this.health.responsive) return void context.close().catch(() => {})
    try {
      return await withDeadline(context.close(), { ms: limits.pool.closeMs })
    } catch {
      if (this.upstream.closed) return
    }
    // Playwright could not close it: ask the browser itself, which disposes of the context even if pages hang.
    const disposed = this.#control.send('Target.disposeBrowserContext', { browserContextId: contextId })
    await disposed.catch((error: BaxError) => {
      if (!/Failed to find context/.test(protocolText(error)) && error.code !== 'worker_lost') throw error
    })
  }
}

/** Waits for the page of a context; closes the context if it cannot be opened. */
export async function opened(context: OpenContext): Promise<OpenContext> {
  try {
    await context.page
    return context
  } catch (error) {
    await context.close()
    throw error
  }
}

const versionIn = (product: string): string => product.slice(product.indexOf('/') + 1)

async function connect(process: BrowserProcess, kind: BrowserKind, onFound: () => void) {
  const upstream = new (hasWindows(kind) ? Upstream : GuardedUpstream)(process.input, process.output)
  const version = (await upstream.send('Browser.getVersion')) as { product: string; userAgent: string }
  onFound()
  const [control, channel, info] = await Promise.all([
    upstream.openChannel(),
    upstream.openChannel(),
    upstream.send('SystemInfo.getProcessInfo'),
  ])
  const artifacts = `${process.folder}/artifacts`
  const newContext = await connectPlaywright(channel, versionIn(version.product), artifacts)
  // The spawned process is a wrapper, so ask the browser for its own PID.
  const processes = info['processInfo'] as { type: string; id: number }[]
  const pid = processes.find(({ type }) => type === 'browser')!.id
  return { process, upstream, control, newContext, artifacts, version, pid }
}
