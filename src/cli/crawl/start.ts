/** Begins a crawl, or goes on with one that was begun. */
import { call } from '../../client/client.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { CrawlAccepted } from '../../core/shapes/crawl.ts'
import { type Context, operationNamed } from '../context.ts'
import type { Home } from '../engine/locate-engine.ts'
import { CrawlCalls } from './crawl-calls.ts'

type Wishes = Readonly<Record<string, unknown>>

/** A crawl that goes on by itself, whatever becomes of this connection. */
export async function startCrawl(context: Context, home: Home, wishes: Wishes): Promise<CrawlAccepted> {
  const { http } = operationNamed(context.manifest, 'crawl')
  const input = { ...wishes, async: true }
  return (await call(home.transport, http, input, { strict: true, signal: context.io.signal })) as CrawlAccepted
}

/** Whether the crawl had been cut off: one that runs, or is complete, is only looked at. */
export async function goOn(calls: CrawlCalls, signal: AbortSignal): Promise<boolean> {
  try {
    await calls.resume(signal)
    return true
  } catch (error) {
    if (error instanceof BaxError && error.code === 'conflict') return false
    throw error
  }
}
