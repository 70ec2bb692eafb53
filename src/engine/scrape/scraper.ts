/** Runs scrapes, from the request to the result. */
import { sessionNotFound } from '../../core/access/relayed.ts'
import type { Call } from '../../core/operation/call.ts'
import type { EngineConfig } from '../../core/config/config.ts'
import type { Scraper } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withTlsHint } from '../../core/errors/certificates.ts'
import { limits } from '../../core/limits/limits.ts'
import type { PageVersionStore } from '../../core/stores.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { KeyShares } from '../browser/shares/key-shares.ts'
import type { Egress, RequestRules } from '../egress/egress.ts'
import { requestedMode } from '../render/decide/fetch-or-render.ts'
import type { LanguageModel } from '../language/model.ts'
import type { Renderer } from '../render/browser/renderer.ts'
import { Identities } from './identity/identities.ts'
import type { OpenIdentity } from './identity/open-identity.ts'
import { kindOfHeaders } from '../render/http/content-kind.ts'
import { type FetchedPage, fetchPage } from '../render/http/fetch.ts'
import type { TrackedPage, Tracked } from '../changes/tracker.ts'
import { AnswerCache } from './cache.ts'
import { fetchOverHttp } from './fetch-over-http.ts'
import { fetchMarkdownFirst, type Known, type LoadContext, loadPage, newKnown, renderInBrowser } from './load-page.ts'
import { withAnswerWarning, withLoginWarning } from './page-warnings.ts'
import type { LoadedPage } from './loaded-page.ts'
import type { MarkdownFirst } from './markdown/markdown-first.ts'
import { assertModel, checkOptionsOf, planScrape, type ScrapePlan, usesModel, withoutIdentity } from './plan.ts'
import { isLarge, type UnreadPage } from './reading.ts'
import { asPlain, openReadingWorkers, type ReadingWorkers } from './reading-workers.ts'
import type { PageLoader, ReadingOptions, ScrapeCaller, StepContext } from './steps.ts'
import { timed, withProxy } from './write-facts.ts'
import { type WrittenAnswer, writePage } from './write.ts'

type UntrackedPage = Omit<TrackedPage, 'model' | 'plan'> & { readonly plan: ScrapePlan }

/** Scrapes pages. Crawls call the single steps, because they choose between the fetched and the rendered page. */
export class PageScraper implements Omit<Scraper, 'parse'> {
  readonly #config: EngineConfig
  readonly egress: Egress
  readonly identities: Identities
  readonly #shares: KeyShares
  readonly #known = newKnown()
  readonly #cache = new AnswerCache()
  #loading: Promise<Renderer> | undefined
  #renderer: Renderer | undefined
  #model: LanguageModel | undefined
  #versions: PageVersionStore | undefined
  #threads: ReadingWorkers | undefined
  /** Number of pages of scrapes for which threads could be used. */
  #pages = 0
  /** Separate threads for large pages, so that other pages do not queue behind them. */
  #largeThreads: ReadingWorkers | undefined

  constructor(config: EngineConfig, egress: Egress, shares: KeyShares) {
    this.#config = config
    this.#shares = shares
    this.egress = egress
    this.identities = new Identities(config)
  }

  /** Key of the signatures of webhooks, if one is configured. */
  get webhookSecret(): string | undefined {
    return this.#config.webhookSecret
  }

  get waiting(): number {
    return this.#renderer?.waiting ?? 0
  }

  /** `open` opens another identity than that of the fields, such as that of a session. */
  async scrape(
    input: ScrapeInput,
    { signal, caller }: Pick<Call, 'signal' | 'caller'>,
    open?: OpenIdentity,
  ): Promise<ScrapeAnswer> {
    if (input.session_id !== undefined && !open) throw sessionNotFound(input.session_id)
    const checked = planScrape(input, caller.keyId)
    await this.check(checked)
    const opened = await (open?.() ?? this.identities.open(input, caller))
    const plan = opened ? { ...checked, identity: opened.identity } : checked
    // A cached page would be compared with itself. Pages that are read with an identity are for that reader only.
    const isCached = !plan.tracking && !opened
    const cached = isCached ? this.#cache.find(input, caller) : undefined
    if (cached) return cached
    let unsaved: string | undefined
    const answer = await this.#inTime(plan, signal, loadPage).finally(async () => {
      // The site of a page that failed may have replaced cookies too.
      unsaved = await opened?.save()
      if (unsaved !== undefined) this.#config.log('warn', unsaved)
    })
    const isWhole = answer.success && answer.warning_code !== 'incomplete_response'
    if (isWhole && isCached) this.#cache.store(input, caller, answer)
    return unsaved === undefined ? answer : withAnswerWarning(answer, unsaved)
  }

  /** Scrapes a page that `load` loads; the result is not cached, because it may be private to the caller. */
  async scrapeFrom(input: ScrapeInput, { from, signal }: ScrapeCaller, load: PageLoader): Promise<ScrapeAnswer> {
    const plan = planScrape(input, from)
    await this.check(plan)
    return this.#inTime(plan, signal, load)
  }

  /** Starts the worker threads, before many pages are read. */
  begin(): void {
    this.#threads ??= this.#openThreads({ large: false })
    this.#threads?.start()
  }

  /**
   * Fetches a page over HTTP, and follows redirects. Worker threads, if available, read large pages, or with `all`
   * every HTML page, and write the answer according to `write`.
   */
  async fetch(plan: ScrapePlan, { signal, answers, ...options }: StepContext & ReadingOptions): Promise<MarkdownFirst> {
    const context = { signal, egress: this.rulesOf(plan), answers, read: this.#readerOf(plan, signal, options) }
    const read = plan.markdown
      ? await fetchMarkdownFirst(plan, { ...context, ...this.#knownFor(plan) }, async ({ page }) => page)
      : await fetchOverHttp(plan.url, context)
    return { ...read, page: withLoginWarning(plan, read.page) }
  }

  /** Fetches a page under a condition: the status is 304, without a body, if it is not met. */
  fetchIf(plan: ScrapePlan, condition: Record<string, string>, signal: AbortSignal): Promise<FetchedPage> {
    const request = { egress: this.rulesOf(plan), markdown: plan.markdown !== undefined }
    return fetchPage(plan.url, { ...request, signal, condition, checkHeaders: kindOfHeaders })
  }

  async render(plan: ScrapePlan, context: StepContext & Pick<LoadContext, 'deadline'>): Promise<LoadedPage> {
    const egress = this.rulesOf(plan)
    const { signal } = context
    const read = this.#readerOf(plan, signal)
    return withLoginWarning(
      plan,
      await renderInBrowser(plan, { ...context, egress, renderer: this.#loadRenderer, read }),
    )
  }

  /** Creates the answer with the requested formats; `start` is `performance.now()` at the beginning of the scrape. */
  async write(plan: ScrapePlan, page: LoadedPage, start: number, signal: AbortSignal): Promise<WrittenAnswer> {
    if (page.reading?.written) return timed(page.reading.written, start)
    const model = usesModel(plan) ? await this.#modelUnder(signal, start + plan.timeoutMs) : undefined
    return writePage(plan, page, { start, extractors: { model, rules: this.#config.builtinExtractor !== false } })
  }

  /** Compares a page with its previous version, if the format changeTracking is requested; see `tracker.ts`. */
  async track(tracked: UntrackedPage, start: number = performance.now()): Promise<Tracked> {
    const { plan, signal } = tracked
    if (!plan.tracking) return {}
    this.#versions ??=
      this.#config.stores?.versions ??
      new (await import('../store/version-folder.ts')).VersionFolder(this.#config.stateDir)
    const model = plan.tracking.modes?.includes('json')
      ? await this.#modelUnder(signal, start + plan.timeoutMs)
      : undefined
    const { trackPage } = await import('../changes/tracker.ts')
    return trackPage(this.#versions, { ...tracked, model })
  }

  /** Checks a plan before its page is loaded. @throws BaxError `invalid_request`, `model_not_configured` */
  async check(plan: ScrapePlan): Promise<void> {
    await checkOptionsOf(plan)
    assertModel(plan, this.#config)
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#loading?.then((renderer) => renderer.close()),
      this.#threads?.close(),
      this.#largeThreads?.close(),
    ])
  }

  /** Returns what is known about hosts. What others read says nothing about pages of an identity, and the reverse. */
  #knownFor = ({ identity }: ScrapePlan): Known => (identity ? newKnown() : this.#known)

  /** Returns the rules of requests for a page. */
  rulesOf({ input, url, from, identity }: ScrapePlan): RequestRules {
    const turn = identity?.proxies?.turn(url, this.egress, from)
    const rules = this.egress.rulesFor(from, input.allowed_domains)
    return { ...rules, ...(identity && { identity }), ...(turn && { turn }) }
  }

  #inTime(plan: ScrapePlan, signal: AbortSignal, load: PageLoader): Promise<ScrapeAnswer> {
    const { timeoutMs: ms, from } = plan
    const work = async (inner: AbortSignal) => {
      const start = performance.now()
      const egress = this.rulesOf(plan)
      const loaded = await load(plan, {
        ...this.#knownFor(plan),
        egress,
        renderer: this.#loadRenderer,
        signal: inner,
        deadline: start + ms,
        read: this.#readerOf(plan, inner),
      })
      const page = withLoginWarning(plan, loaded)
      const { answer: written } = await this.write(plan, page, start, inner)
      const answer = await withProxy(written, egress.turn)
      if (!answer.data) return answer
      const { change, warning } = await this.track({ plan, page: answer.data, owner: from, signal: inner }, start)
      const changed = change ? { ...answer, data: { ...answer.data, changeTracking: change } } : answer
      return warning === undefined ? changed : withAnswerWarning(changed, warning)
    }
    const error = `the scrape took longer than ${ms} ms`
    return withDeadline(work, { ms, error, signal, cooperative: true }).catch((failure: unknown) => {
      throw plan.identity?.skipsTlsVerification ? failure : withTlsHint(failure, this.#config)
    })
  }

  /** Returns the configured model, limited to the remaining time of the scrape minus a reserve for rules. */
  async #modelUnder(signal: AbortSignal, deadline: number): Promise<LanguageModel | undefined> {
    const { model: settings, proxies } = this.#config
    if (!settings) return undefined
    this.#model ??= new (await import('../language/openai-compatible.ts')).OpenAiCompatible(settings, proxies)
    const model = this.#model
    return {
      answer: async (question) => {
        const left = Math.max(0, Math.round(deadline - performance.now() - limits.model.rulesMs))
        const late = AbortSignal.timeout(left)
        try {
          return await model.answer({ ...question, signal: AbortSignal.any([signal, late]) })
        } catch (error) {
          if (!late.aborted || signal.aborted) throw error
          throw new BaxError('timeout', 'the language model did not answer before the scrape timed out', {
            cause: error,
          })
        }
      },
    }
  }

  /**
   * Returns the function that reads pages in worker threads: large pages, and with `all` every HTML page. Pages for a
   * language model are read in this thread, which has the model, unless they are too large for it.
   */
  #readerOf(plan: ScrapePlan, signal: AbortSignal, { all, write }: ReadingOptions = this.#reading(plan)) {
    const rules = this.#config.builtinExtractor !== false
    return (page: UnreadPage) => {
      const { kind, source } = page
      const content = 'text' in source ? source.text : source.bytes
      const large = isLarge(content)
      const forModel = usesModel(plan) && this.#config.model !== undefined
      if (!large && (forModel || kind !== 'html' || !(all === 'ready' ? this.#hasReaders() : all))) return undefined
      if (forModel && content.length < limits.reading.modelBytes) return undefined
      if (forModel && !rules) throw new BaxError('content_too_large', 'the page is too large for the language model')
      const warnings = forModel ? [...page.warnings, rulesUsed] : page.warnings
      const threads = large
        ? (this.#largeThreads ??= this.#openThreads({ large }))
        : (this.#threads ??= this.#openThreads({ large }))
      // This thread does not write large pages, which may be kept as fetched, and a rendered page is always kept.
      const when = write !== 'never' && (large || page.render === 'browser') ? 'always' : write
      return threads?.run(
        { plan: withoutIdentity(plan), page: asPlain({ ...page, warnings }), write: when, rules },
        { signal, from: plan.from },
      )
    }
  }

  /** A server has many clients, so that its threads warm up only once. */
  #openThreads({ large }: { large: boolean }): ReadingWorkers | undefined {
    return openReadingWorkers({ large, patient: this.#config.home !== 'server' })
  }

  /** Returns what worker threads do for a scrape. */
  #reading(plan: ScrapePlan): ReadingOptions {
    const write = requestedMode(plan) ? 'always' : this.#known.memory.ignoredReasons(plan.url)
    return { all: this.#config.home === 'embedded' ? false : 'ready', write }
  }

  /** Whether a thread is ready to read a page; starts one from the second page on, as many engines only read one. */
  #hasReaders(): boolean {
    if (this.#pages++ > 0) this.begin()
    return this.#threads?.isReady ?? false
  }

  readonly #loadRenderer = (): Promise<Renderer> =>
    (this.#loading ??= import('../render/browser/renderer.ts').then(({ Renderer }) => {
      this.#renderer = new Renderer(this.#config, this.egress, this.#shares)
      return this.#renderer
    }))
}

const rulesUsed = 'the page is too large for the language model: rules were used instead'
