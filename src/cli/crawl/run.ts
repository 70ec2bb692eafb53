/** Follows one crawl from its first event to its last. */
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlError, CrawlEventData } from '../../core/shapes/crawl.ts'
import type { Io } from '../io.ts'
import { counted } from '../output/counted.ts'
import { showWarning } from '../output/output.ts'
import { fitted, startSpinner, type Spinner } from '../output/progress.ts'
import { type CrawlCalls, type CrawlEvent, endMs } from './crawl-calls.ts'
import type { Sink } from './sinks.ts'

interface RunOptions {
  readonly io: Io
  readonly calls: CrawlCalls
  readonly sinks: readonly Sink[]
  /** Whether an interrupted command cancels the crawl: true if this command started or resumed it. */
  readonly owned: boolean
  /** Aborted when nobody reads standard output any more. */
  readonly reader: AbortSignal
}

/** How a crawl ended. */
export interface CrawlEnd {
  /** Absent if the end of the crawl was not received. */
  readonly finished?: CrawlEventData['crawl.finished']
  readonly url: string
  readonly errors: readonly CrawlError[]
  /** Why the command stopped early: ^C, or standard output was closed. */
  readonly stopped?: 'interrupted' | 'unread'
}

/** Events that are followed. */
const followed = [
  'crawl.started',
  'crawl.page',
  'crawl.error',
  'crawl.warning',
  'crawl.progress',
  'crawl.finished',
] as const

/** Follows a crawl to its end. @throws BaxError `engine_unreachable` */
export const runCrawl = async (options: RunOptions): Promise<CrawlEnd> =>
  new CrawlRun(options, await startSpinner(options.io, 'starting')).run()

class CrawlRun {
  readonly #options: RunOptions
  readonly #spinner: Spinner
  readonly #errors = new Map<string, CrawlError>()
  readonly #warned = new Set<string>()
  #seen = 0
  #url = ''
  #last = ''
  #finished: CrawlEventData['crawl.finished'] | undefined

  constructor(options: RunOptions, spinner: Spinner) {
    this.#options = options
    this.#spinner = spinner
  }

  async run(): Promise<CrawlEnd> {
    const { io, owned, reader } = this.#options
    try {
      await this.#follow(AbortSignal.any([io.signal, reader]))
      return this.#end()
    } catch (error) {
      const unread = reader.aborted && !io.signal.aborted
      if (!unread && !io.signal.aborted) {
        if (owned) await this.#abandon(error)
        throw error
      }
      if (owned) await this.#cancel(unread)
      return this.#end(unread ? 'unread' : 'interrupted')
    } finally {
      this.#spinner.stop()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { calls, sinks } = this.#options
    // Without sinks, the pages are not read twice.
    const types = sinks.length > 0 ? followed : followed.filter((type) => type !== 'crawl.page')
    for await (const event of calls.events(this.#seen, types, signal)) await this.#take(event)
  }

  /** Cancels the crawl and receives its last events. */
  async #cancel(unread: boolean): Promise<void> {
    const signal = AbortSignal.timeout(endMs)
    const { io, calls } = this.#options
    this.#spinner.say(fitted(io, 'ending'))
    await calls.end(signal)
    if (!unread) await this.#follow(signal)
  }

  /** Cancels a crawl whose pages cannot be stored, for example because the disk is full. */
  async #abandon(reason: unknown): Promise<void> {
    if (reason instanceof BaxError && reason.code === 'engine_unreachable') return
    // The user sees `reason`, not a failure to cancel.
    await this.#options.calls.cancel(AbortSignal.timeout(endMs)).catch(() => {})
  }

  #end(stopped?: CrawlEnd['stopped']): CrawlEnd {
    return {
      url: this.#url,
      errors: [...this.#errors.values()],
      ...(this.#finished && { finished: this.#finished }),
      ...(stopped && { stopped }),
    }
  }

  async #take(event: CrawlEvent): Promise<void> {
    const { io, sinks } = this.#options
    switch (event.type) {
      case 'crawl.started':
        this.#url = this.#last = event.data.url
        for (const sink of sinks) await sink.start?.(this.#url)
        break
      case 'crawl.page':
        this.#last = event.data.url
        this.#errors.delete(event.data.url)
        for (const sink of sinks) await sink.page(event.data, event.ts)
        break
      case 'crawl.error':
        this.#errors.set(event.data.url, event.data)
        for (const sink of sinks) await sink.error?.(event.data, event.ts)
        break
      case 'crawl.warning':
        await this.#warn(event.data.message)
        break
      case 'crawl.progress':
        this.#spinner.say(progressLine(io, event.data, this.#last))
        break
      case 'crawl.finished':
        this.#finished = event.data
    }
    // Set after processing, so that an interrupted event is requested again.
    this.#seen = event.seq
  }

  async #warn(message: string): Promise<void> {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    await showWarning(this.#options.io, { warning: message })
  }
}

/** Returns `41 pages, 12.5/s, 210 waiting, 1 error, https://…`; `last` is the URL while no page is being visited. */
function progressLine(io: Io, progress: CrawlEventData['crawl.progress'], last: string): string {
  const { completed, pages_per_second: rate, queued, errors, current } = progress
  const facts = [
    counted(completed, 'page'),
    `${rate.toFixed(1)}/s`,
    `${queued} waiting`,
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    current[0] ?? last,
  ]
  return fitted(io, facts.join(', '))
}
