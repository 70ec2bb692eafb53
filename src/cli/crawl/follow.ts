/** Follows a crawl to its end, across broken connections. */
import { setTimeout as after } from 'node:timers/promises'
import { openStream } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlEventData, CrawlEventType } from '../../core/shapes/crawl.ts'

/** One frame of the stream. */
export type CrawlEvent = {
  readonly [Type in CrawlEventType]: {
    readonly seq: number
    readonly ts: string
    readonly type: Type
    readonly data: CrawlEventData[Type]
  }
}[CrawlEventType]

export interface Followed {
  readonly transport: Transport
  /** Address of the stream. */
  readonly http: string
  readonly id: string
  /** How long a connection that broke is tried again; 0 where there is nothing between us and the engine. */
  readonly patienceMs: number
}

/**
 * The events after `since`, to the last one. A connection that breaks is made anew; nothing is lost or comes twice.
 * @throws BaxError `engine_unreachable` when nothing more comes although the crawl has not ended
 */
export async function* followCrawl(
  { transport, http, id, patienceMs }: Followed,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent> {
  let seen = since
  let opened = false
  // A crawl that was gone on with has the end of its first part in the middle: the stream's own end counts.
  let finished = false
  let brokenAt: number | undefined
  for (;;) {
    let broken: unknown
    try {
      const frames = await openStream(transport, http, { id, since: seen }, { signal, strict: true })
      opened = true
      for await (const frame of frames ?? []) {
        const event = frame as unknown as CrawlEvent
        seen = event.seq
        brokenAt = undefined
        // How far it is can be told once more when it has ended.
        if (event.type !== 'crawl.progress') finished = event.type === 'crawl.finished'
        yield event
      }
    } catch (error) {
      if (!(error instanceof BaxError && error.code === 'engine_unreachable' && opened) || signal.aborted) throw error
      broken = error
    }
    if (finished && !broken) return
    signal.throwIfAborted()
    brokenAt ??= performance.now()
    if (performance.now() - brokenAt >= patienceMs) throw broken ?? cutOff()
    await after(limits.stream.retryMs / 4, undefined, { signal })
  }
}

const cutOff = () => new BaxError('engine_unreachable', 'the crawl has not ended, and this engine does not work on it')
