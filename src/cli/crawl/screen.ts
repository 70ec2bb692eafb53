/** A crawl on standard output: pages as text, one a line, addresses alone, or the service's whole answer. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { CrawlError } from '../../core/shapes/crawl.ts'
import type { Context } from '../context.ts'
import type { Io } from '../io.ts'
import { outletFor } from '../scrape/outlet.ts'
import type { CrawledPage } from './mirror.ts'

/** Takes pages and errors as they come. */
export interface Sink {
  page(page: CrawledPage): Promise<void>
  error?(error: CrawlError): Promise<void>
}

/** Nobody reads standard output any more, as after `| head`. */
export class ReaderGone extends Error {}

/** Every page, and every error, as one line of JSON. */
export const linesSink = (io: Io): Sink => ({
  page: ({ page, index, depth, url, replaces }) =>
    printLine(io, JSON.stringify({ ...page, index, depth, url, ...(replaces && { replaces }) })),
  error: (error) => printLine(io, JSON.stringify(error)),
})

/** The pages one below the other, each under its address, as `bax scrape` shows several; of a dry run the addresses alone. */
export function textSink(context: Context, wishes: Readonly<Record<string, unknown>>): Sink {
  const { io, settings } = context
  const outlet = outletFor({ ...context, settings: { ...settings, json: false } }, {}, wishes, 2)
  return {
    async page({ page, replaces }) {
      const { metadata, ...content } = page
      const url = metadata.url ?? metadata.sourceURL
      if (Object.keys(content).length === 0) return printLine(io, url)
      await outlet.take({ url: replaces ? `${url} (again, as a browser shows it)` : url, answer: { success: true, data: page } }) // prettier-ignore
      await caughtUp(io)
    },
  }
}

async function printLine(io: Io, line: string): Promise<void> {
  await caughtUp(io, io.stdout.write(`${line}\n`))
}

/** Waits until the reader has taken what was written. @throws ReaderGone when there is none any more */
async function caughtUp(io: Io, took: unknown = true): Promise<void> {
  const stream = io.stdout as Partial<Writable>
  if (stream.once && (took === false || stream.writableNeedDrain)) {
    const waiting = new AbortController()
    const { signal } = waiting
    // What else goes wrong with it is seen below.
    await Promise.race([once(stream as Writable, 'drain', { signal }), once(stream as Writable, 'close', { signal })]).catch(() => {}) // prettier-ignore
    waiting.abort()
  }
  if (stream.destroyed || stream.errored) throw new ReaderGone('standard output is closed')
}
