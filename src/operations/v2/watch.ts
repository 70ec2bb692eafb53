/** Crawls and batches over a websocket, in the formats of Firecrawl's clients. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Engine } from '../../core/engine.ts'
import { asBaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../core/net/link.ts'
import type { Frame, SocketCall } from '../../core/operation/call.ts'
import { defineSocket } from '../../core/operation/operation.ts'
import { inGateway } from '../../core/operation/placement.ts'
import type { CrawlEventData, CrawlState } from '../../core/shapes/crawl.ts'
import { documentOf } from '../../core/shapes/jobs/document-v2.ts'
import { identifier } from '../../core/shapes/fields.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import { getCrawl } from '../crawl.ts'
import { idOf } from './crawl.ts'

interface WatchFormat {
  /** Converts a page. */
  readonly page: (page: ScrapeData) => unknown
  /** Whether the end is a message; clients of /v1 read it from the reason of the close. */
  readonly endsInMessage: boolean
}

const formats = {
  v1: { page: (page: ScrapeData) => page, endsInMessage: false },
  v2: { page: documentOf, endsInMessage: true },
} satisfies Record<string, WatchFormat>

const watchSocket = (http: `GET /${string}`, format: WatchFormat) =>
  defineSocket({
    summary: `Watch a crawl or a batch (${http.includes('v1') ? 'Firecrawl' : 'Firecrawl v2'} format)`,
    description:
      'Sends JSON: `catchup` with the state and the pages so far, `document` for each further page, then `done` or `error`. ' +
      'The key may be sent as subprotocol.',
    http,
    scope: getCrawl.scope,
    runs: inGateway,
    anyProtocol: true,
    messageBytes: limits.crawl.watcherBytes,
    input: z.object({ id: identifier.describe('ID of a crawl or batch, in its original form or as a UUID') }),
    errors: getCrawl.errors,
    open: async (engine, { id: given }, call) => {
      const id = idOf(given)
      const state = await engine.crawls.get({ id, skip: 0, limit: 0 }, call)
      return (link) => void watch({ engine, call, link, format, id, state })
    },
  })

export const watchCrawl = watchSocket('GET /v1/crawl/{id}', formats.v1)
export const watchCrawlV2 = watchSocket('GET /v2/crawl/{id}', formats.v2)
export const watchBatchV2 = watchSocket('GET /v2/batch/scrape/{id}', formats.v2)

interface Watched {
  readonly engine: Engine
  readonly call: SocketCall
  readonly link: Link
  readonly format: WatchFormat
  readonly id: string
  readonly state: CrawlState
}

async function watch({ engine, call, link, format, id, state }: Watched): Promise<void> {
  const closed = new AbortController()
  const signal = AbortSignal.any([call.signal, closed.signal])
  link.handle({ onText: () => {}, onBytes: () => {}, onClose: () => closed.abort() })
  const send = async (message: object) => {
    link.sendText(JSON.stringify(message))
    while (link.buffered > limits.crawl.watcherBuffered && !signal.aborted) await pause(limits.crawl.watcherPollMs)
  }
  try {
    const types = ['crawl.page', 'crawl.progress']
    const frames = await engine.crawls.follow({ id, since: 0, types }, { ...call, signal, since: 0 })
    let pages: unknown[] | undefined = []
    const catchUp = async (isWhole: boolean) => {
      if (!pages) return
      const found = await engine.crawls.get({ id, skip: 0, limit: 0 }, call)
      const { total, expires_at: expiresAt } = found
      const completed = pages.length
      // Clients stop at the state of a finished crawl, so it is sent only with all pages; the crawl may end meanwhile.
      const status = isWhole ? found.status : 'scraping'
      await send({ type: 'catchup', data: { success: true, status, total, completed, expiresAt, data: pages } })
      pages = undefined
    }
    let end: CrawlEventData['crawl.finished'] | undefined
    for await (const frame of frames ?? []) {
      const { type, data } = frame as Frame & { data: unknown }
      if (type === 'crawl.finished') end = data as typeof end
      // The first progress follows the pages that were there before.
      if (type === 'crawl.progress' || (pages?.length ?? 0) >= limits.crawl.listedPages) await catchUp(false)
      if (type !== 'crawl.page') continue
      const { page, index } = data as CrawlEventData['crawl.page']
      const document = format.page(page)
      // A page that is repeated in a browser replaces the earlier one.
      if (pages) pages[index] = document
      else await send({ type: 'document', data: document })
    }
    await catchUp(true)
    const status = end?.status ?? state.status
    const message =
      status === 'completed'
        ? { type: 'done', data: { status, total: end?.total, completed: end?.completed } }
        : { type: 'error', error: end?.error ?? `the crawl was ${status}` }
    if (format.endsInMessage) await send(message)
    link.close(closeCodes.done, reasonOf(message))
  } catch (thrown) {
    if (!signal.aborted) link.close(closeCodes.protocol, reasonOf({ type: 'error', error: asBaxError(thrown).message }))
  }
}

/** Reasons of websockets have at most 123 bytes. */
function reasonOf({ type, error }: { type: string; error?: string }): string {
  const short = error?.replaceAll(/[^ -~]/g, '?').slice(0, 50)
  return JSON.stringify({ type, ...(short !== undefined && { error: short }) })
}
