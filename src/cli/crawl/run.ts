/** Follows one crawl from its first event to its last. */
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlError, CrawlEventData } from '../../core/shapes/crawl.ts'
import type { Io } from '../io.ts'
import { fitted, startSpinner, type Spinner } from '../output/progress.ts'
import { showWarning } from '../output/output.ts'
import type { CrawlCalls } from './crawl-calls.ts'
import { type CrawlEvent, followCrawl, type CrawlStream } from './follow.ts'
import { counted } from '../output/counted.ts'
import { ReaderGone } from './reader.ts'
import type { Sink } from './sinks.ts'

interface CrawlRun {
  readonly io: Io
  readonly calls: CrawlCalls
  readonly followed: CrawlStream
  readonly sinks: readonly Sink[]
  /** Whether an interrupted command cancels the crawl: true if this command started or resumed it. */
  readonly owned: boolean
  /** Called with the URL of the start page. */
  readonly onStart: (url: string) => Promise<void>
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

/** Timeout for a cancelled crawl to end, in milliseconds. */
const endMs = 20_000

/** Follows a crawl to its end. @throws BaxError `engine_unreachable` */
export async function runCrawl(run: CrawlRun): Promise<CrawlEnd> {
  const { io, followed, owned } = run
  const listener = new Listener(run, await startSpinner(io, 'starting'))
  try {
    for await (const event of followCrawl(followed, 0, io.signal)) await listener.take(event)
    return listener.end()
  } catch (error) {
    const unread = error instanceof ReaderGone
    if (!unread && !io.signal.aborted) {
      if (owned) await abandon(run, error)
      throw error
    }
    if (owned) await endEarly(run, listener, unread)
    return listener.end(unread ? 'unread' : 'interrupted')
  } finally {
    listener.stop()
  }
}

/** Cancels the crawl and receives its last events. */
async function endEarly({ calls, followed }: CrawlRun, listener: Listener, unread: boolean): Promise<void> {
  const signal = AbortSignal.timeout(endMs)
  listener.say('ending')
  try {
    await calls.cancel(signal)
  } catch (error) {
    // The crawl has already ended.
    if (!(error instanceof BaxError && error.code === 'conflict')) throw error
  }
  if (unread) return
  for await (const event of followCrawl(followed, listener.seen, signal)) await listener.take(event)
}

/** Cancels a crawl whose pages cannot be stored, for example because the disk is full. */
async function abandon({ calls }: CrawlRun, reason: unknown): Promise<void> {
  if (reason instanceof BaxError && reason.code === 'engine_unreachable') return
  // The user sees `reason`, not a failure to cancel.
  await calls.cancel(AbortSignal.timeout(endMs)).catch(() => {})
}

class Listener {
  /** Sequence number of the last event. */
  seen = 0
  readonly #run: CrawlRun
  readonly #spinner: Spinner
  readonly #errors = new Map<string, CrawlError>()
  readonly #warned = new Set<string>()
  #url = ''
  #last = ''
  #finished: CrawlEventData['crawl.finished'] | undefined

  constructor(run: CrawlRun, spinner: Spinner) {
    this.#run = run
    this.#spinner = spinner
  }

  say(text: string): void {
    this.#spinner.say(fitted(this.#run.io, text))
  }

  stop(): void {
    this.#spinner.stop()
  }

  end(stopped?: CrawlEnd['stopped']): CrawlEnd {
    return {
      url: this.#url,
      errors: [...this.#errors.values()],
      ...(this.#finished && { finished: this.#finished }),
      ...(stopped && { stopped }),
    }
  }

  async take(event: CrawlEvent): Promise<void> {
    const { io, sinks, onStart } = this.#run
    switch (event.type) {
      case 'crawl.started':
        this.#url = this.#last = event.data.url
        await onStart(this.#url)
        break
      case 'crawl.page':
        this.#last = event.data.url
        this.#errors.delete(event.data.url)
        for (const sink of sinks) await sink.page(event.data)
        break
      case 'crawl.error':
        this.#errors.set(event.data.url, event.data)
        for (const sink of sinks) await sink.error?.(event.data)
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
    this.seen = event.seq
  }

  async #warn(message: string): Promise<void> {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    await showWarning(this.#run.io, { warning: message })
  }
}

/**
 * Returns `41 pages, 12.5/s, 210 waiting, 1 error, https://…`, cut to the terminal's width. `last` is the URL to show
 * while no page is being visited.
 */
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
