/** One scrape from request to result. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Scraper } from '../../core/engine.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Call } from '../../core/operation/operation.ts'
import type { TaskWish } from '../../core/process/thread-pool.ts'
import type { ScrapeAnswer, ScrapeInput } from '../../core/shapes/scrape.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import type { Egress } from '../egress/egress.ts'
import { HostMemory } from '../render/decide/host-memory.ts'
import type { LanguageModel } from '../language/model.ts'
import type { Renderer } from '../render/browser/renderer.ts'
import { AnswerCache } from './cache.ts'
import { type Means, obtain, type ObtainedPage, overHttp, inBrowser } from './load-page.ts'
import { checkSchemaOf, planScrape, type ScrapePlan } from './plan.ts'
import type { PageSteps } from './steps.ts'
import { isLarge, type WriteWish } from './reading.ts'
import { ReadingThreads } from './reading-threads.ts'
import { writePage } from './write.ts'

/** Another way to get a page than from the engine's own browsers. */
export type Obtain = (plan: ScrapePlan, means: Means) => Promise<ObtainedPage>

/** Who waits for a scrape: until when, and under which key. */
export type Waiting = Required<TaskWish>

export class PageScraper implements Scraper {
  readonly #config: EngineConfig
  readonly #egress: Egress
  readonly #memory = new HostMemory()
  readonly #cache = new AnswerCache()
  #loading: Promise<Renderer> | undefined
  #renderer: Renderer | undefined
  #model: LanguageModel | undefined
  #threads: ReadingThreads | undefined
  /** Threads for large pages: nobody else waits for what keeps one busy. */
  #largeThreads: ReadingThreads | undefined

  constructor(config: EngineConfig, egress: Egress) {
    this.#config = config
    this.#egress = egress
  }

  /** Pages that wait to be rendered. */
  get waiting(): number {
    return this.#renderer?.waiting ?? 0
  }

  async scrape(input: ScrapeInput, { signal, caller }: Pick<Call, 'signal' | 'caller'>): Promise<ScrapeAnswer> {
    const plan = planScrape(input)
    await this.#check(plan)
    const known = this.#cache.find(input, caller)
    if (known) return known
    const answer = await this.#inTime(plan, { signal, from: caller.keyId }, obtain)
    if (answer.success) this.#cache.keep(input, caller, answer)
    return answer
  }

  /** The same of a page that is got in another way; what was got for somebody is kept for nobody else. */
  async scrapeFrom(input: ScrapeInput, waiting: Waiting, way: Obtain): Promise<ScrapeAnswer> {
    const plan = planScrape(input)
    await this.#check(plan)
    return this.#inTime(plan, waiting, way)
  }

  /** A page in steps, for the crawl, which chooses between what was fetched and what was rendered. */
  get steps(): PageSteps {
    const egress = this.#egress
    return {
      egress,
      check: (plan) => this.#check(plan),
      begin: () => void (this.#threads ??= ReadingThreads.open()),
      fetch: (plan, { signal, answers, ...wish }) =>
        overHttp(plan.url, { signal, egress, answers, read: this.#readerOf(plan, { signal }, wish) }),
      render: (plan, clock) =>
        inBrowser(plan, {
          ...clock,
          egress,
          renderer: () => this.#loadRenderer(),
          read: this.#readerOf(plan, clock),
        }),
      write: (plan, page, { signal, start }) => this.#write(plan, page, start, signal),
    }
  }

  /** Ends the browsers that were started for rendering. */
  async close(): Promise<void> {
    await Promise.all([
      this.#loading?.then((renderer) => renderer.close()),
      this.#threads?.close(),
      this.#largeThreads?.close(),
    ])
  }

  #inTime(plan: ScrapePlan, { signal, from }: Waiting, way: Obtain): Promise<ScrapeAnswer> {
    const { timeoutMs: ms } = plan
    const error = `the scrape took longer than ${ms} ms`
    const work = (inner: AbortSignal) => this.#run(plan, { signal: inner, from }, way)
    return withDeadline(work, { ms, error, signal, cooperative: true })
  }

  async #run(plan: ScrapePlan, { signal, from }: Waiting, way: Obtain): Promise<ScrapeAnswer> {
    const start = performance.now()
    const means = {
      memory: this.#memory,
      egress: this.#egress,
      renderer: () => this.#loadRenderer(),
      signal,
      deadline: start + plan.timeoutMs,
      read: this.#readerOf(plan, { signal, from }),
    }
    const page = await way(plan, means)
    return this.#write(plan, page, start, signal)
  }

  async #write(plan: ScrapePlan, page: ObtainedPage, start: number, signal: AbortSignal): Promise<ScrapeAnswer> {
    if (page.reading?.answer) return timed(page.reading.answer, start)
    const model = asksModel(plan) ? await this.#modelUnder(signal, start + plan.timeoutMs) : undefined
    return writePage(plan, page, { start, reader: { model, rules: this.#config.builtinExtractor !== false } })
  }

  /** @throws BaxError for what no page could be asked for here: `invalid_request`, `model_not_configured`. */
  async #check(plan: ScrapePlan): Promise<void> {
    await checkSchemaOf(plan)
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

  /**
   * Reads in threads: large pages, and the HTML of `all` where many are to come. What a model is asked about is
   * read here, where the model is, unless it is too large for that.
   */
  #readerOf(
    plan: ScrapePlan,
    task: TaskWish,
    { all = false, write = 'always' }: { readonly all?: boolean; readonly write?: WriteWish } = {},
  ): NonNullable<Means['read']> {
    const rules = this.#config.builtinExtractor !== false
    return (page) => {
      const { kind, source } = page
      const content = 'text' in source ? source.text : source.bytes
      const large = isLarge(content)
      const asks = asksModel(plan)
      if (!large && (asks || !all || kind !== 'html')) return undefined
      const unasked = asks && this.#config.model !== undefined
      if (unasked && content.length < limits.reading.forModel) return undefined
      if (unasked && !rules) throw new BaxError('content_too_large', 'the page is too large to ask a language model about it') // prettier-ignore
      const warnings = unasked ? [...page.warnings, notAsked] : page.warnings
      const threads = large ? (this.#largeThreads ??= ReadingThreads.open()) : (this.#threads ??= ReadingThreads.open())
      return threads?.read({ plan, page: { ...page, warnings }, write, rules }, task)
    }
  }

  #loadRenderer(): Promise<Renderer> {
    this.#loading ??= import('../render/browser/renderer.ts').then(({ Renderer }) => {
      this.#renderer = new Renderer(this.#config, this.#egress)
      return this.#renderer
    })
    return this.#loading
  }
}

/** With the time of the whole scrape, whatever part of it a thread has measured. */
function timed(answer: ScrapeAnswer, start: number): ScrapeAnswer {
  const { data } = answer
  if (!data) return answer
  const metadata = { ...data.metadata, duration_ms: Math.round(performance.now() - start) }
  return { ...answer, data: { ...data, metadata } }
}

const notAsked = 'the page is too large to ask the language model about it: rules have answered'

const asksModel = ({ formats }: ScrapePlan): boolean => formats.has('json') || formats.has('summary')
