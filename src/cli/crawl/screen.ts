/** The pages of a crawl on standard output: as text, or one a line. */
import type { CrawlError } from '../../core/shapes/crawl.ts'
import type { Context } from '../context.ts'
import { outletFor } from '../scrape/outlet.ts'
import type { CrawledPage } from './mirror/mirror.ts'
import type { Reader } from './reader.ts'

/** Takes pages and errors as they come. */
export interface Sink {
  page(page: CrawledPage): Promise<void>
  error?(error: CrawlError): Promise<void>
}

/** Every page, and every error, as one line of JSON. */
export const linesSink = (reader: Reader): Sink => ({
  page: ({ page, index, depth, url, replaces }) =>
    reader.print(`${JSON.stringify({ ...page, index, depth, url, ...(replaces && { replaces }) })}\n`),
  error: (error) => reader.print(`${JSON.stringify(error)}\n`),
})

/** The pages one below the other, each under its address, as `bax scrape` shows several; of a dry run the addresses alone. */
export function textSink(context: Context, reader: Reader, wishes: Readonly<Record<string, unknown>>): Sink {
  const settings = { ...context.settings, json: false }
  const outlet = outletFor({ ...context, settings }, {}, wishes, 2)
  return {
    async page({ page, replaces }) {
      const { metadata, ...content } = page
      const url = metadata.url ?? metadata.sourceURL
      if (Object.keys(content).length === 0) return reader.print(`${url}\n`)
      const answer = { success: true, data: page }
      await outlet.take({ url: replaces ? `${url} (again, as a browser shows it)` : url, answer })
      await reader.caughtUp()
    },
  }
}
