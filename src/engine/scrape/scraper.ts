/** One scrape from request to result. */
import { STATUS_CODES } from 'node:http'
import type { EngineConfig } from '../../core/config.ts'
import type { Scraper } from '../../core/engine.ts'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { newId } from '../../core/ids.ts'
import type { ScrapeAnswer, ScrapeData, ScrapeInput, ScrapeMetadata } from '../../core/shapes/scrape.ts'
import { HostMemory } from '../render/host-memory.ts'
import type { LanguageModel } from '../language/model.ts'
import type { Renderer } from '../render/renderer.ts'
import { AnswerCache } from './cache.ts'
import { type Filled, fillFormats } from './formats.ts'
import { metadataOf } from './metadata.ts'
import { type Means, obtain, type ObtainedPage, overHttp, inBrowser } from './obtain.ts'
import { planScrape, type ScrapePlan } from './plan.ts'
import type { PageSteps } from './steps.ts'

/** Another way to get a page than from the engine's own browsers. */
export type Obtain = (plan: ScrapePlan, means: Pick<Means, 'signal' | 'deadline'>) => Promise<ObtainedPage>

export class PageScraper implements Scraper {
  readonly #config: EngineConfig
  readonly #memory = new HostMemory()
  readonly #cache = new AnswerCache()
  #loading: Promise<Renderer> | undefined
  #renderer: Renderer | undefined
  #model: LanguageModel | undefined

  constructor(config: EngineConfig) {
    this.#config = config
  }

  /** Pages that wait to be rendered. */
  get waiting(): number {
    return this.#renderer?.waiting ?? 0
  }

  async scrape(input: ScrapeInput, call: { readonly signal: AbortSignal }): Promise<ScrapeAnswer> {
    const plan = planScrape(input)
    this.#checkModel(plan)
    const known = this.#cache.find(input)
    if (known) return known
    const answer = await this.#inTime(plan, call.signal)
    if (answer.success) this.#cache.keep(input, answer)
    return answer
  }

  /** The same of a page that is got in another way; what was got for somebody is kept for nobody else. */
  async scrapeFrom(input: ScrapeInput, call: { readonly signal: AbortSignal }, from: Obtain): Promise<ScrapeAnswer> {
    const plan = planScrape(input)
    this.#checkModel(plan)
    return this.#inTime(plan, call.signal, from)
  }

  /** A page in steps, for the crawl, which chooses between what was fetched and what was rendered. */
  readonly steps: PageSteps = {
    check: (plan) => this.#checkModel(plan),
    fetch: (plan, clock) => overHttp(plan.url, clock),
    render: (plan, clock) => inBrowser(plan, { ...clock, renderer: () => this.#loadRenderer() }),
    write: (plan, page, { signal, start }) => this.#write(plan, page, start, signal),
  }

  /** Ends the browsers that were started for rendering. */
  async close(): Promise<void> {
    await (await this.#loading)?.close()
  }

  async #inTime(plan: ScrapePlan, caller: AbortSignal, from: Obtain | undefined = undefined): Promise<ScrapeAnswer> {
    const { timeoutMs } = plan
    const clock = new AbortController()
    const late = () => clock.abort(new BaxError('timeout', `the scrape took longer than ${timeoutMs} ms`))
    const timer = setTimeout(late, timeoutMs)
    try {
      return await this.#run(plan, AbortSignal.any([caller, clock.signal]), from)
    } catch (error) {
      // Whatever failed because the time was up failed for that reason.
      if (clock.signal.aborted) throw clock.signal.reason
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #run(plan: ScrapePlan, signal: AbortSignal, from: Obtain | undefined): Promise<ScrapeAnswer> {
    const start = performance.now()
    const means = {
      memory: this.#memory,
      renderer: () => this.#loadRenderer(),
      signal,
      deadline: start + plan.timeoutMs,
    }
    const page = await (from ? from(plan, means) : obtain(plan, means))
    return this.#write(plan, page, start, signal)
  }

  async #write(plan: ScrapePlan, page: ObtainedPage, start: number, signal: AbortSignal): Promise<ScrapeAnswer> {
    const model = asksModel(plan) ? await this.#modelUnder(signal, start + plan.timeoutMs) : undefined
    const filled = await fillFormats(plan, page, { model, rules: this.#config.builtinExtractor !== false })
    const { error, ...told } = answerFacts(page)
    const metadata: ScrapeMetadata = {
      ...metadataOf(page.document.tree),
      ...documentFacts(page),
      ...filled.metadata,
      sourceURL: plan.input.url,
      ...told,
      ...(error && { error }),
      scrape_id: newId('scr'),
      duration_ms: Math.round(performance.now() - start),
      render: page.render,
    }
    return answerOf(page, filled, metadata)
  }

  /** @throws BaxError `model_not_configured` for what nobody here can answer. */
  #checkModel(plan: ScrapePlan): void {
    if (this.#config.model || this.#config.builtinExtractor !== false || !asksModel(plan)) return
    const asked = ['json', 'summary'].filter((format) => plan.formats.has(format as 'json')).join(' and ')
    throw new BaxError('model_not_configured', `${asked} needs a language model, and none is set up`, {
      hint: 'set BAX_MODEL_URL and BAX_MODEL, or let the built-in extractor answer (BAX_BUILTIN_EXTRACTOR)',
    })
  }

  /** The model that is set up, if one is; it has what is left of the scrape's time, but for finding out by rules. */
  async #modelUnder(signal: AbortSignal, deadline: number): Promise<LanguageModel | undefined> {
    if (!this.#config.model) return undefined
    this.#model ??= new (await import('../language/openai-compatible.ts')).OpenAiCompatible(this.#config.model)
    const model = this.#model
    return {
      answer: async (question) => {
        const left = Math.max(0, Math.round(deadline - performance.now() - limits.model.rulesMs))
        const late = AbortSignal.timeout(left)
        try {
          return await model.answer({ ...question, signal: AbortSignal.any([signal, late]) })
        } catch (error) {
          if (!late.aborted || signal.aborted) throw error
          throw new BaxError('timeout', 'the language model did not answer in the time of the scrape', { cause: error })
        }
      },
    }
  }

  #loadRenderer(): Promise<Renderer> {
    this.#loading ??= import('../render/renderer.ts').then(({ Renderer }) => {
      this.#renderer = new Renderer(this.#config)
      return this.#renderer
    })
    return this.#loading
  }
}

const asksModel = ({ formats }: ScrapePlan): boolean => formats.has('json') || formats.has('summary')

/** What the answer says, beside its content. */
function answerFacts({ url, status, headers, document, redirects }: ObtainedPage) {
  const type = headers.get('content-type')
  const { charset } = document
  return {
    url,
    status_code: status,
    ...(status >= 400 && { error: STATUS_CODES[status] ?? `HTTP ${status}` }),
    ...(type && { content_type: type }),
    ...(charset && { charset }),
    redirects: [...redirects],
  }
}

/** Facts of documents that are no pages. */
function documentFacts({ document, headers }: ObtainedPage): Partial<ScrapeMetadata> {
  const { title, description, language, author, published, modified, pages } = document
  const told = headers.get('content-language')?.split(',')[0]!.trim()
  const said = language ?? (document.isPage ? undefined : told)
  return {
    ...(title && { title }),
    ...(description && { description }),
    ...(said && { language: said }),
    ...(author && { author }),
    ...(published && { published_time: published }),
    ...(modified && { modified_time: modified }),
    ...(pages !== undefined && { num_pages: pages }),
  }
}

function answerOf(page: ObtainedPage, filled: Filled, metadata: ScrapeMetadata): ScrapeAnswer {
  const { actions } = page.rendered ?? {}
  const status = metadata.error ? `the page answered ${page.status} ${metadata.error}` : undefined
  const warning = [status, ...page.warnings, ...filled.warnings].filter(Boolean).join('; ')
  const data: ScrapeData = { ...filled.data, ...(actions && { actions }), metadata }
  return { success: true, data, ...(warning && { warning }) }
}
