/**
 * Runs one crawl. URLs are visited concurrently and finished one after the other in the order of the queue: whatever
 * the concurrency, the result has the same pages in the same order, and the limit applies at the same page.
 */
import { setMaxListeners } from 'node:events'
import type { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlEventData, CrawlStatus } from '../../core/shapes/crawl.ts'
import { CrawlPolicy } from '../render/decide/fetch-or-render.ts'
import { Frontier, type QueuedUrl } from './queue/frontier.ts'
import { damageLines, type JournalEntry, pagesAt, warning } from './store/journal.ts'
import { adaptiveConcurrency, fixedConcurrency, type Concurrency, Speed } from './pacing/concurrency.ts'
import { Robots } from './queue/robots.ts'
import { PageDecisions } from './decide-page.ts'
import type { PageSource } from './pages/page-source.ts'
import { removedLines } from './removed.ts'
import { PageFinisher } from './finish-page.ts'
import { readSources } from './queue/site-sources.ts'
import { CrawlAbort } from './abort.ts'
import { CrawlSite } from './site.ts'
import type { RunFacts } from './run-facts.ts'
import { finishLine, startLines } from './lines.ts'
import { refusalOf, type Visited, Visitor, weightOf } from './visit.ts'

interface Task {
  readonly waiting: QueuedUrl
  done?: Promise<void>
  /** Result of the visit; `planned` for a page that a dry run does not need to read. */
  visited?: Visited | 'planned'
  error?: unknown
  isFinishing?: true
}

export class CrawlRun {
  readonly #facts: RunFacts
  readonly #control = new AbortController()
  readonly #frontier: Frontier
  readonly #policy = new CrawlPolicy()
  readonly #site: CrawlSite
  readonly #robots: Robots
  readonly #source: PageSource
  readonly #visitor: Visitor
  readonly #finisher: PageFinisher
  readonly #speed = new Speed()
  /** Dispatched but not finished, in the order of the queue. */
  readonly #tasks: Task[] = []
  #concurrency: Concurrency = fixedConcurrency(1)
  #active = 0
  #ahead = 0
  #sitemapsRead = false
  #sitemapsIncomplete = false
  #wake = () => {}

  constructor(facts: RunFacts) {
    const { signal } = this.#control
    // Every page adds a listener.
    setMaxListeners(0, signal)
    this.#facts = facts
    this.#frontier = new Frontier(facts.journal.log)
    this.#robots = new Robots({ ...facts, signal, onWarning: this.#addWarning })
    this.#site = new CrawlSite(facts.plan)
    this.#source = facts.openSource(signal, this.#site)
    const shared = { ...facts, source: this.#source, policy: this.#policy, signal }
    const decisions = new PageDecisions(shared)
    this.#visitor = new Visitor({ ...shared, decisions, robots: this.#robots })
    this.#finisher = new PageFinisher({ ...shared, decisions, robots: this.#robots })
  }

  /** Stops the crawl; `run` resolves soon afterwards. */
  end(kind: CrawlAbort['kind'], cause?: BaxError): void {
    this.#control.abort(new CrawlAbort(kind, cause))
  }

  progress(): CrawlEventData['crawl.progress'] {
    const { record } = this.#facts
    return {
      ...record.counts(),
      queued: record.queued,
      current: this.#tasks
        .filter(({ visited, isFinishing }) => isFinishing || visited === undefined)
        .map(({ waiting }) => waiting.url),
      concurrency: this.#concurrency.atOnce,
      pages_per_second: this.#speed.perSecond(),
      elapsed_ms: record.activeMs(Date.now()),
    }
  }

  /** Adds a warning, also after the end of the crawl, unless it was interrupted and is resumed later. */
  warn(message: string): void {
    const { record, log } = this.#facts
    if (record.finished)
      this.#write([warning(message)]).catch((error: Error) =>
        log('error', 'a warning could not be stored', { crawl: record.id, warning: message, error: error.message }),
      )
    else if (!this.#control.signal.aborted) this.#addWarning(message)
  }

  /** Resolves when the crawl has ended for any reason; rejects only for internal errors. */
  async run(): Promise<void> {
    const { plan, record } = this.#facts
    const { concurrency, timeout_secs: secs } = plan.input
    const { adapt = adaptiveConcurrency, timeLeftMs = secs * 1000 } = this.#facts
    const clock = setTimeout(() => this.end('out_of_time'), timeLeftMs)
    this.#concurrency = concurrency === undefined ? adapt(() => this.#wake()) : fixedConcurrency(concurrency)
    this.#control.signal.addEventListener('abort', () => this.#wake())
    if (plan.input.limit >= limits.reading.worthwhile && plan.input.render !== 'browser') this.#source.begin()
    try {
      await this.#start()
      await this.#work()
      const removed = await removedLines(this.#facts, this.#finisher.findings(!this.#sitemapsIncomplete))
      if (removed.length > 0) await this.#write(removed)
      await this.#finish(record.success ? 'completed' : 'failed')
    } catch (error) {
      const ending = this.#control.signal.reason as unknown
      if (!(ending instanceof CrawlAbort)) throw error
      if (ending.kind === 'cancelled') await this.#finish('cancelled')
      else if (ending.kind !== 'interrupted') await this.#finish('failed', ending.cause)
    } finally {
      this.end('interrupted')
      await Promise.all(this.#tasks.map(({ done }) => done))
      clearTimeout(clock)
      this.#concurrency.close()
    }
  }

  async #start(): Promise<void> {
    const { before, plan, record, journal } = this.#facts
    if (!before || journal.seq === 0) return this.#write(startLines(record, plan))
    const damaged = new Set(this.#facts.damaged)
    for await (const placed of before) {
      this.#finisher.replay(placed.line)
      this.#site.keep(placed.line, damaged)
      this.#site.apply(placed.line)
      this.#frontier.push(placed)
      this.#sitemapsRead ||= placed.line.own?.sitemaps ?? false
      this.#sitemapsIncomplete ||= placed.line.own?.incomplete ?? false
    }
    await this.#frontier.drop(record.taken)
    await this.#write([{ type: 'crawl.resumed', data: { completed: record.completed } }, ...damageLines(record)])
    await this.#restore(damaged)
    await this.#renderAgain()
  }

  async #work(): Promise<void> {
    const { record } = this.#facts
    for (;;) {
      this.#control.signal.throwIfAborted()
      if (record.success && !this.#sitemapsRead) await this.#readSources()
      await this.#dispatch()
      const task = this.#tasks[0]
      if (!task) return
      if (task.visited === undefined && task.error === undefined)
        await new Promise<void>((resolve) => (this.#wake = resolve))
      if (task.error !== undefined) throw task.error
      if (task.visited !== undefined) await this.#finishTask(task, task.visited)
    }
  }

  /** Starts as many visits as the concurrency allows, but none that a sequential crawl would not make. */
  async #dispatch(): Promise<void> {
    const { record, plan } = this.#facts
    while (this.#active < this.#concurrency.atOnce && this.#tasks.length < limits.crawl.ahead) {
      if (this.#ahead > limits.crawl.aheadChars || record.admitted + this.#tasks.length >= plan.input.limit) return
      // The scope of the crawl is unknown until the start page is loaded.
      if (!record.success && this.#tasks.length > 0) return
      const position = record.taken + this.#tasks.length
      if (!this.#site.isReady(position)) return
      const waiting = await this.#frontier.next()
      if (!waiting) return
      this.#site.assign(waiting.url, position)
      this.#startVisit({ waiting })
    }
  }

  #startVisit(task: Task): void {
    this.#tasks.push(task)
    this.#active++
    task.done = this.#visit(task.waiting)
      .then(
        (visited) => {
          task.visited = visited
          this.#ahead += weightOf(visited, this.#source)
        },
        (error: unknown) => {
          task.error = error
        },
      )
      .finally(() => {
        this.#active--
        this.#wake()
      })
  }

  async #visit(waiting: QueuedUrl): Promise<Visited | 'planned'> {
    if (this.#canSkip(waiting)) {
      const rules = await this.#robots.rulesFor(new URL(waiting.url))
      return refusalOf(waiting.url, rules, this.#facts.plan.input.respect_signals) ?? 'planned'
    }
    return this.#visitor.visit(waiting)
  }

  /** Returns whether a dry run can skip a page, because none of its links would be visited. */
  #canSkip({ depth }: QueuedUrl): boolean {
    const { record, plan } = this.#facts
    const { dry_run: dry, max_depth: maxDepth, limit } = plan.input
    return dry && depth > 0 && (depth >= maxDepth || record.admitted + record.queued >= limit)
  }

  async #finishTask(task: Task, result: Visited | 'planned'): Promise<void> {
    const { record } = this.#facts
    const { waiting } = task
    task.isFinishing = true
    this.#ahead -= weightOf(result, this.#source)
    const canSkip = this.#canSkip(waiting)
    const visited = result === 'planned' && !canSkip ? await this.#visitor.visit(waiting) : result
    const refused = visited !== 'planned' && !visited.ok && (visited.blocked || visited.refused || visited.skipped)
    const planned = visited === 'planned' || (canSkip && !refused)
    const lines = planned
      ? await this.#finisher.plan(waiting, record.completed)
      : await this.#finisher.finish(waiting, visited, record.completed)
    await this.#write(lines)
    this.#tasks.shift()
    this.#facts.answers.discard(waiting.url)
    this.#site.discard(waiting.url)
    this.#speed.count()
    await this.#renderAgain()
  }

  /** Renders earlier pages again for whose kind an audit has shown that a browser shows more. */
  async #renderAgain(): Promise<void> {
    const { pages, record } = this.#facts
    for (let places = this.#policy.toRepeat(); places.length > 0; places = this.#policy.toRepeat()) {
      const part = places.slice(0, this.#concurrency.atOnce)
      const kept = await Promise.all(part.map((index) => pages.read(record.locationOf(index))))
      const visits = await Promise.all(kept.map((waiting) => this.#visitor.visit(waiting, 'browser')))
      for (const [at, index] of part.entries()) {
        const { url, depth } = kept[at]!
        await this.#write(await this.#finisher.replace({ url, depth }, visits[at]!, index))
        this.#facts.answers.discard(url)
      }
    }
  }

  /** Fetches pages again whose stored form is damaged. */
  async #restore(damaged: ReadonlySet<number>): Promise<void> {
    const { journal, answers } = this.#facts
    for (const [index, waiting] of await pagesAt(journal.log, journal.bytes, damaged)) {
      await this.#write(await this.#finisher.restore(waiting, await this.#visitor.visit(waiting), index))
      answers.discard(waiting.url)
      this.#site.discard(waiting.url)
    }
  }

  async #readSources(): Promise<void> {
    this.#sitemapsRead = true
    const { origin } = this.#finisher.scope
    const facts = { ...this.#facts, robots: this.#robots, origin, signal: this.#control.signal }
    const lines = await readSources(facts, {
      hasFound: (url) => this.#finisher.hasFound(url),
      add: async (urls) => {
        const found = this.#finisher.addresses(urls)
        if (found.length > 0) await this.#write(found)
      },
    })
    this.#sitemapsIncomplete = lines.some(({ own }) => own?.incomplete)
    if (lines.length > 0) await this.#write(lines)
  }

  async #write(entries: readonly JournalEntry[]): Promise<void> {
    for (const placed of await this.#facts.journal.commit(entries)) {
      this.#facts.record.apply(placed)
      this.#site.apply(placed.line)
      this.#frontier.push(placed)
    }
  }

  async #finish(status: CrawlStatus, cause?: BaxError): Promise<void> {
    await this.#write([finishLine(this.#facts.record, status, cause)])
  }

  readonly #addWarning = (message: string): void => void this.#write([warning(message)]).catch(this.#fail)

  readonly #fail = (error: unknown): void => this.#control.abort(error)
}
