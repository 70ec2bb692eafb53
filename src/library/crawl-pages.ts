/** The pages of a crawl as they arrive. */
import type { Unchecked } from '../client/calls.ts'
import { crawlCalls, endMs, failureOf, startCrawl } from '../cli/crawl/crawl-calls.ts'
import type { Context } from '../cli/context.ts'
import type { LocatedEngine } from '../cli/engine/locate-engine.ts'
import { showWarning } from '../cli/output/output.ts'

/** Adds something to what the connection ends; returns a function that removes it, unless it has been. */
export type Own = (owned: AsyncDisposable) => () => boolean

/**
 * Yields pages and errors like `bax crawl --ndjson`, and returns the summary. The crawl is cancelled when its reader
 * stops before the end.
 */
export async function* crawlPages(context: Context, engine: LocatedEngine, input: Unchecked, own: Own) {
  const { io } = context
  const { id } = await startCrawl(context, engine, input)
  const calls = crawlCalls(engine, id)
  const end = () => calls.end(AbortSignal.timeout(endMs))
  const release = own({
    async [Symbol.asyncDispose]() {
      release()
      await end()
    },
  })
  let isFinished = false
  try {
    const types = ['crawl.page', 'crawl.error', 'crawl.warning', 'crawl.finished'] as const
    for await (const { type, data } of calls.events(0, types, io.signal)) {
      if (type === 'crawl.page') {
        const { page, index, depth, url, replaces } = data
        yield { ...page, index, depth, url, ...(replaces && { replaces }) }
      } else if (type === 'crawl.error') yield data
      else if (type === 'crawl.warning') await showWarning(io, { warning: data.message })
      else if (type === 'crawl.finished') {
        isFinished = true
        if (!data.success || data.status !== 'completed') throw failureOf(data)
        return { id, ...data }
      }
    }
    throw new Error('the stream of a crawl ends with crawl.finished')
  } finally {
    if (release() && !isFinished) await end()
  }
}
