/** Pages of a crawl on standard output, as text or as lines of JSON, with backpressure. */
import type { Writable } from 'node:stream'
import type { CrawlError } from '../../core/shapes/crawl.ts'
import type { Context } from '../context.ts'
import type { Io } from '../io.ts'
import { pageWriterFor } from '../scrape/page-writer.ts'
import type { CrawledPage } from './mirror/mirror.ts'

/** Receives the pages and errors of a crawl. */
export interface Sink {
  /** Called with the URL of the start page. */
  start?(url: string): Promise<void>
  page(page: CrawledPage): Promise<void>
  error?(error: CrawlError): Promise<void>
}

/** Prints every page and every error as one line of JSON. */
export const linesSink = (reader: Reader): Sink => ({
  page: ({ page, index, depth, url, replaces }) =>
    reader.print(`${JSON.stringify({ ...page, index, depth, url, ...(replaces && { replaces }) })}\n`),
  error: (error) => reader.print(`${JSON.stringify(error)}\n`),
})

/** Prints pages below their URLs, like `bax scrape` with several pages; a dry run prints URLs only. */
export function textSink(context: Context, reader: Reader, input: Readonly<Record<string, unknown>>): Sink {
  const settings = { ...context.settings, json: false }
  const writer = pageWriterFor({ ...context, settings }, {}, input, 2)
  return {
    async page({ page, replaces }) {
      const { metadata, ...content } = page
      const url = metadata.url ?? metadata.sourceURL
      if (Object.keys(content).length === 0) return reader.print(`${url}\n`)
      const answer = { success: true, data: page }
      await writer.take({ url: replaces ? `${url} (again, rendered by a browser)` : url, answer })
      await reader.drained()
    },
  }
}

/** Thrown after the reader has closed standard output, as `| head` does. */
export class ReaderGone extends Error {}

export class Reader {
  readonly #io: Io
  #gone = false
  #wake = () => {}

  constructor(io: Io) {
    this.#io = io
    const stream = io.stdout as Partial<Writable>
    // A broken pipe is reported only once, by an event.
    const gone = () => {
      this.#gone = true
      this.#wake()
    }
    stream.on?.('error', gone)
    stream.on?.('close', gone)
    stream.on?.('drain', () => this.#wake())
  }

  /** Prints, and waits until the output has drained. @throws ReaderGone */
  async print(text: string): Promise<void> {
    this.#io.stdout.write(text)
    await this.drained()
  }

  /** Waits until the output has drained. @throws ReaderGone */
  async drained(): Promise<void> {
    const stream = this.#io.stdout as Partial<Writable>
    if (stream.writableNeedDrain && !this.#gone) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#gone) throw new ReaderGone('standard output is closed')
  }
}
