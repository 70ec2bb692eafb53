/** Pages of a crawl on standard output, as text or as lines of JSON, with backpressure. */
import type { CrawlError } from '../../core/shapes/crawl.ts'
import type { Context } from '../context.ts'
import type { Reader } from '../output/reader.ts'
import { pageWriterFor } from '../scrape/page-writer.ts'
import type { CrawledPage } from './mirror/mirror.ts'

/** Receives the pages and errors of a crawl. */
export interface Sink {
  /** Called with the URL of the start page. */
  start?(url: string): Promise<void>
  /** `ts` is the time of the event, as ISO 8601. */
  page(page: CrawledPage, ts: string): Promise<void>
  error?(error: CrawlError, ts: string): Promise<void>
}

/** Prints every page and every error as one line of JSON. */
export const linesSink = (reader: Reader): Sink => ({
  page: ({ page, index, depth, url, replaces }) =>
    reader.print(`${JSON.stringify({ ...page, index, depth, url, ...(replaces && { replaces }) })}\n`),
  error: (error) => reader.print(`${JSON.stringify(error)}\n`),
})

/** Leaves the changes of single pages to the summary of a crawl with `since`. */
export const withoutChanges = (sink: Sink): Sink => ({
  ...sink,
  page: ({ page: { changeTracking: _change, ...page }, ...found }, ts) => sink.page({ ...found, page }, ts),
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
