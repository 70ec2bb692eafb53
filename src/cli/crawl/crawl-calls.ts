/** API calls about crawls. */
import { call } from '../../client/client.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlAccepted, CrawlAccounts, CrawlState } from '../../core/shapes/crawl.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { type Context, operationNamed } from '../context.ts'
import type { Reader } from './reader.ts'

export type CrawlCalls = ReturnType<typeof crawlCalls>

/** Returns the calls about one crawl. */
export function crawlCalls({ manifest }: Context, { transport }: LocatedEngine, id: string) {
  const ask = (name: string, input: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> =>
    call(transport, operationNamed(manifest, name).http, { id, ...input }, { strict: true, ...(signal && { signal }) })
  return {
    id,
    /** Returns the state of the crawl with up to `limit` pages. */
    state: async (skip: number, limit: number, signal?: AbortSignal) =>
      (await ask('getCrawl', { skip, limit }, signal)) as CrawlState,
    accounts: async () => (await ask('getCrawlErrors', {})) as CrawlAccounts,
    cancel: (signal?: AbortSignal) => ask('cancelCrawl', {}, signal),
    /** Resumes a crawl that was interrupted; returns false if it is running or complete. */
    async resume(signal: AbortSignal): Promise<boolean> {
      try {
        await ask('resumeCrawl', {}, signal)
        return true
      } catch (error) {
        if (error instanceof BaxError && error.code === 'conflict') return false
        throw error
      }
    },
  }
}

/** Starts a crawl that continues without this connection. */
export async function startCrawl(
  { io, manifest }: Context,
  engine: LocatedEngine,
  input: object,
): Promise<CrawlAccepted> {
  const { http } = operationNamed(manifest, 'crawl')
  return (await call(
    engine.transport,
    http,
    { ...input, async: true },
    { strict: true, signal: io.signal },
  )) as CrawlAccepted
}

/** Pages per request. */
const pagesAtOnce = 100

/** Prints the answer of `POST /v1/crawl` with all pages, which are requested in chunks. */
export async function printAnswer(reader: Reader, calls: CrawlCalls): Promise<void> {
  const head: Partial<CrawlState> = await calls.state(0, 0)
  const accounts: Partial<CrawlAccounts> = await calls.accounts()
  for (const name of ['created_at', 'expires_at', 'next', 'data'] as const) delete head[name]
  delete accounts.success
  await reader.print(`${JSON.stringify(head).slice(0, -1)},"data":[`)
  for (let skip = 0; ;) {
    const { data } = await calls.state(skip, pagesAtOnce)
    if (data.length === 0) break
    for (const [at, page] of data.entries()) await reader.print(`${skip + at > 0 ? ',' : ''}${JSON.stringify(page)}`)
    skip += data.length
  }
  await reader.print(`],${JSON.stringify(accounts).slice(1)}\n`)
}
