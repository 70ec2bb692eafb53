/** One crawl from its first event to its last, as the terminal sees it. */
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlError, CrawlEventData } from '../../core/shapes/crawl.ts'
import type { Io } from '../io.ts'
import { startSpinner, type Spinner } from '../output/progress.ts'
import { showWarning } from '../output/output.ts'
import type { CrawlCalls } from './crawl-calls.ts'
import { type CrawlEvent, followCrawl, type Followed } from './follow.ts'
import { fitted, progressLine } from './progress.ts'
import { ReaderGone } from './reader.ts'
import type { Sink } from './screen.ts'

export interface Errand {
  readonly io: Io
  readonly calls: CrawlCalls
  readonly followed: Followed
  readonly sinks: readonly Sink[]
  /** Whether the crawl ends with the command: one that was only looked at goes on. */
  readonly owned: boolean
  /** Called with the start page's address, once it is known. */
  readonly onStart: (url: string) => Promise<void>
}

/** How a crawl ended. */
export interface CrawlEnd {
  /** Absent when the end was not seen. */
  readonly finished?: CrawlEventData['crawl.finished']
  readonly url: string
  readonly errors: readonly CrawlError[]
  /** By the user, or since nobody reads what is printed. */
  readonly stopped?: 'interrupted' | 'unread'
}

/** How long a crawl may take to end when it is told to. */
const endMs = 20_000

/** @throws BaxError `engine_unreachable` when the engine is lost */
export async function runCrawl(errand: Errand): Promise<CrawlEnd> {
  const { io, followed, owned } = errand
  const listener = new Listener(errand, await startSpinner(io, 'starting'))
  try {
    for await (const event of followCrawl(followed, 0, io.signal)) await listener.take(event)
    return listener.end()
  } catch (error) {
    const unread = error instanceof ReaderGone
    if (!unread && !io.signal.aborted) {
      if (owned) await abandon(errand, error)
      throw error
    }
    if (owned) await endEarly(errand, listener, unread)
    return listener.end(unread ? 'unread' : 'interrupted')
  } finally {
    listener.quiet()
  }
}

/** Cancels the crawl and takes what it had still to say. */
async function endEarly({ calls, followed }: Errand, listener: Listener, unread: boolean): Promise<void> {
  const signal = AbortSignal.timeout(endMs)
  listener.say('ending')
  try {
    await calls.cancel(signal)
  } catch (error) {
    // It has come to its end by itself.
    if (!(error instanceof BaxError && error.code === 'conflict')) throw error
  }
  if (unread) return
  for await (const event of followCrawl(followed, listener.seen, signal)) await listener.take(event)
}

/** Cancels a crawl whose pages cannot be taken, as when the disk is full. */
async function abandon({ calls }: Errand, reason: unknown): Promise<void> {
  if (reason instanceof BaxError && reason.code === 'engine_unreachable') return
  // What went wrong before is what the user is told.
  await calls.cancel(AbortSignal.timeout(endMs)).catch(() => {})
}

class Listener {
  /** Number of the last event. */
  seen = 0
  readonly #errand: Errand
  readonly #spinner: Spinner
  readonly #errors = new Map<string, CrawlError>()
  readonly #warned = new Set<string>()
  #url = ''
  #last = ''
  #finished: CrawlEventData['crawl.finished'] | undefined

  constructor(errand: Errand, spinner: Spinner) {
    this.#errand = errand
    this.#spinner = spinner
  }

  say(text: string): void {
    this.#spinner.say(fitted(this.#errand.io, text))
  }

  quiet(): void {
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
    const { io, sinks, onStart } = this.#errand
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
    // Not before it was taken: what an interruption cut short is asked for again.
    this.seen = event.seq
  }

  async #warn(message: string): Promise<void> {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    await showWarning(this.#errand.io, { warning: message })
  }
}
