/** A browser of the renderer's own, driven over raw CDP: nothing of Playwright in it, and tabs that are used again. */
import type { EngineConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { Health } from '../../browser/pool/health.ts'
import { disabledFeatures } from '../../browser/pool/flags.ts'
import { type BrowserProcess, startBrowser } from '../../browser/pool/launch.ts'
import { locateBrowser } from '../../browser/install/locate.ts'
import { type CdpMessage, type Channel, Upstream } from '../../browser/pool/upstream.ts'
import { plainUserAgent } from '../../browser/pool/user-agents.ts'
import type { Egress } from '../../egress/egress.ts'

/** `bare` reads text: no pictures are loaded and no frame is painted. `painted` is for what is looked at. */
export type RenderKind = 'bare' | 'painted'

const pointers = 'primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4'

/**
 * A new frame in the renderer for every page is a third of the cost of a page; these tabs do without it. Nor do they
 * need a renderer that is started for a page that may come. Storage buckets are not to be had there: what is in them
 * stays when the storage of an origin is cleared.
 */
const features = `--disable-features=${[...disabledFeatures, 'RenderDocument', 'SpareRendererForSitePerProcess', 'StorageBuckets'].join(',')}`

const extraFlags: Record<RenderKind, readonly string[]> = {
  bare: [
    features,
    `--blink-settings=imagesEnabled=false,${pointers}`,
    '--disable-remote-fonts',
    '--autoplay-policy=user-gesture-required',
  ],
  painted: [features, '--autoplay-policy=user-gesture-required'],
}

type Listener = (message: CdpMessage) => void

export class RenderBrowser {
  readonly kind: RenderKind
  /** Targets of the headless shell can be told never to paint. */
  readonly unpainted: boolean
  readonly userAgent: string
  readonly egress: Egress
  readonly health: Health
  readonly #process: BrowserProcess
  readonly #upstream: Upstream
  readonly #channel: Channel
  readonly #listeners = new Map<string, Listener>()

  #onAnswers: (answers: boolean) => void = () => {}

  private constructor(kind: RenderKind, shell: boolean, parts: Parts, { pool, log }: EngineConfig) {
    this.kind = kind
    this.unpainted = kind === 'bare' && shell
    this.userAgent = plainUserAgent(parts.userAgent)
    this.egress = parts.egress
    this.#process = parts.process
    this.#upstream = parts.upstream
    this.#channel = parts.channel
    this.health = new Health({
      times: pool?.health,
      ask: () => this.#channel.send('Browser.getVersion'),
      heardAt: () => this.#upstream.heardAt,
      onChange: (answers) => {
        log('warn', answers ? 'a rendering browser answers again' : 'a rendering browser does not answer', { kind })
        this.#onAnswers(answers)
      },
      onDead: () => {
        log('error', 'a rendering browser does not answer and is killed', { kind })
        this.end().catch((error: Error) => log('error', 'what a browser left could not be removed', { error: error.message })) // prettier-ignore
      },
    })
    this.#upstream.onClose(() => this.health.stop())
    this.#channel.onEvent((message) => {
      const id = message.sessionId ?? (message.params?.['targetId'] as string | undefined)
      if (id !== undefined) this.#listeners.get(id)?.(message)
    })
  }

  /** @throws BaxError `browser_not_found` or `browser_failed` */
  static async launch(kind: RenderKind, config: EngineConfig, egress: Egress): Promise<RenderBrowser> {
    const { browser, cacheDir } = config
    const need = { headless: true, stealth: false }
    const located = await locateBrowser(need, { ...(browser !== undefined && { browser }), cacheDir })
    const shell = located.kind === 'headless-shell'
    const extra = [...extraFlags[kind], ...(await egress.switches())]
    const process = await startBrowser({ path: located.path, shell, kind: 'headless', extra })
    try {
      const { launchMs: ms } = limits.pool
      const parts = await withDeadline(connect(process), { ms, error: `it did not answer within ${ms} ms` })
      return new RenderBrowser(kind, shell, { ...parts, egress }, config)
    } catch (cause) {
      await process.end()
      const words = process.lastWords()
      throw new BaxError('browser_failed', `${located.path} did not start: ${(cause as Error).message}`, {
        cause,
        hint: 'run `bax doctor` to see what it is missing',
        ...(words && { details: { stderr: words } }),
      })
    }
  }

  get gone(): boolean {
    return this.#upstream.closed
  }

  onGone(listener: () => void): void {
    this.#upstream.onClose(listener)
  }

  /** Runs `listener` when the browser stops answering, and when it answers again. */
  onAnswers(listener: (answers: boolean) => void): void {
    this.#onAnswers = listener
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    return this.#channel.send(method, params, sessionId)
  }

  /** Events of a session, and those of the browser about a target. */
  listen(id: string, listener: Listener | undefined): void {
    if (listener) this.#listeners.set(id, listener)
    else this.#listeners.delete(id)
  }

  async end(): Promise<void> {
    await this.#process.end()
  }
}

interface Parts {
  readonly egress: Egress
  readonly process: BrowserProcess
  readonly upstream: Upstream
  readonly channel: Channel
  readonly userAgent: string
}

async function connect(process: BrowserProcess): Promise<Omit<Parts, 'egress'>> {
  const upstream = new Upstream(process.input, process.output)
  const [{ userAgent }, channel] = await Promise.all([upstream.send('Browser.getVersion'), upstream.openChannel()])
  return { process, upstream, channel, userAgent: userAgent as string }
}
