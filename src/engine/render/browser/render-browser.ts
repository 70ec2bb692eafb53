/** A browser process of the renderer, controlled over raw CDP instead of Playwright so that its tabs can be reused. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { Health } from '../../browser/pool/health.ts'
import { disabledFeatures } from '../../browser/pool/flags.ts'
import { type BrowserProcess, type LaunchFacts, launchFailure, startBrowser } from '../../browser/pool/launch.ts'
import { locateBrowser } from '../../browser/install/locate.ts'
import { type CdpMessage, type Channel, Upstream } from '../../browser/cdp/upstream.ts'
import type { Sharing } from '../../browser/shares/key-shares.ts'
import { plainUserAgent } from '../../browser/cdp/user-agents.ts'
import type { Egress } from '../../egress/egress.ts'

/** `bare` is for text: it loads no images and paints no frames. `painted` is for screenshots and actions. */
export type RenderKind = 'bare' | 'painted'

const pointerSettings = 'primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4'

/**
 * Disabled because it costs time: a new renderer frame for every page, a third of the cost of a page, and spare
 * renderers. Storage buckets are disabled because they survive when the storage of an origin is cleared.
 */
const features = `--disable-features=${[...disabledFeatures, 'RenderDocument', 'SpareRendererForSitePerProcess', 'StorageBuckets'].join(',')}`

const extraFlags: Record<RenderKind, readonly string[]> = {
  bare: [
    features,
    `--blink-settings=imagesEnabled=false,${pointerSettings}`,
    '--disable-remote-fonts',
    '--autoplay-policy=user-gesture-required',
  ],
  painted: [features, '--autoplay-policy=user-gesture-required'],
}

interface RenderFacts extends Pick<LaunchFacts, 'share'> {
  readonly egress: Egress
}

type Listener = (message: CdpMessage) => void

export class RenderBrowser {
  readonly kind: RenderKind
  /** Whether targets never paint, which only the headless shell supports. */
  readonly unpainted: boolean
  readonly userAgent: string
  readonly egress: Egress
  readonly health: Health
  readonly #process: BrowserProcess
  readonly #upstream: Upstream
  readonly #channel: Channel
  readonly #listeners = new Map<string, Listener>()

  #onAnswers: (answers: boolean) => void = () => {}

  private constructor(
    kind: RenderKind,
    shell: boolean,
    connection: Connection,
    egress: Egress,
    { pool, log }: EngineConfig,
  ) {
    this.kind = kind
    this.unpainted = kind === 'bare' && shell
    this.userAgent = plainUserAgent(connection.userAgent)
    this.egress = egress
    this.#process = connection.process
    this.#upstream = connection.upstream
    this.#channel = connection.channel
    this.health = new Health({
      times: pool?.health,
      ping: () => this.#channel.send('Browser.getVersion'),
      lastReceivedAt: () => this.#upstream.lastReceivedAt,
      onChange: (answers) => {
        log('warn', answers ? 'a rendering browser answers again' : 'a rendering browser does not answer', { kind })
        this.#onAnswers(answers)
      },
      onDead: () => {
        // Pages can cause it.
        log('warn', 'a rendering browser does not answer and is killed', { kind })
        this.end().catch((error: Error) =>
          log('error', 'files of a browser could not be removed', { error: error.message }),
        )
      },
    })
    this.#upstream.onClose(() => this.health.stop())
    this.#channel.onEvent((message) => {
      const id = message.sessionId ?? (message.params?.['targetId'] as string | undefined)
      if (id !== undefined) this.#listeners.get(id)?.(message)
    })
  }

  /** Starts a browser. @throws BaxError `browser_not_found` or `browser_failed` */
  static async launch(kind: RenderKind, config: EngineConfig, { egress, share }: RenderFacts): Promise<RenderBrowser> {
    const { browser, cacheDir } = config
    const requirements = { headless: true, stealth: false }
    const located = await locateBrowser(requirements, { ...(browser !== undefined && { browser }), cacheDir })
    const shell = located.kind === 'headless-shell'
    const extra = [...extraFlags[kind], ...(await egress.switches())]
    const process = await startBrowser({ path: located.path, shell, kind: 'headless', extra, ...(share && { share }) })
    try {
      const { launchMs: ms } = limits.pool
      const connection = await withDeadline(connect(process), { ms, error: `it did not respond within ${ms} ms` })
      return new RenderBrowser(kind, shell, connection, egress, config)
    } catch (cause) {
      throw await launchFailure(process, located.path, cause)
    }
  }

  get isClosed(): boolean {
    return this.#upstream.closed
  }

  onClose(listener: () => void): void {
    this.#upstream.onClose(listener)
  }

  /** Calls `listener` when the browser stops responding, and when it responds again. */
  onResponsive(listener: (answers: boolean) => void): void {
    this.#onAnswers = listener
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    return this.#channel.send(method, params, sessionId)
  }

  /** Receives the events of a session, or browser events about a target. */
  listen(id: string, listener: Listener | undefined): void {
    if (listener) this.#listeners.set(id, listener)
    else this.#listeners.delete(id)
  }

  get sharing(): Sharing | undefined {
    return this.#process.sharing
  }

  async end(): Promise<void> {
    await this.#process.end()
  }
}

type Connection = Awaited<ReturnType<typeof connect>>

async function connect(process: BrowserProcess) {
  const upstream = new Upstream(process.input, process.output)
  const [{ userAgent }, channel] = await Promise.all([upstream.send('Browser.getVersion'), upstream.openChannel()])
  return { process, upstream, channel, userAgent: userAgent as string }
}
