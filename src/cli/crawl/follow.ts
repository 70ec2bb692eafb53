/** Follows a crawl to its end and reconnects when the connection breaks. */
import { setTimeout as after } from 'node:timers/promises'
import { openStream } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlEventData, CrawlEventType } from '../../core/shapes/crawl.ts'

/** A frame of the stream. */
export type CrawlEvent = {
  readonly [Type in CrawlEventType]: {
    readonly seq: number
    readonly ts: string
    readonly type: Type
    readonly data: CrawlEventData[Type]
  }
}[CrawlEventType]

export interface CrawlStream {
  readonly transport: Transport
  /** Route of the stream. */
  readonly http: string
  readonly id: string
  /** How long to retry a broken connection, in milliseconds; 0 for an engine on this machine. */
  readonly retryMs: number
}

/**
 * Yields the events after `since` up to the last one. Reconnects without losing or repeating events.
 * @throws BaxError `engine_unreachable` if the stream ends before the crawl
 */
export async function* followCrawl(
  { transport, http, id, retryMs }: CrawlStream,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent> {
  let seen = since
  let opened = false
  // A resumed crawl has the `crawl.finished` of its first part in the middle, so the end of the stream counts, too.
  let finished = false
  let brokenAt: number | undefined
  for (;;) {
    let broken: unknown
    try {
      const frames = await openStream<CrawlEvent>(transport, http, { id, since: seen }, { signal, strict: true })
      opened = true
      for await (const event of frames ?? []) {
        seen = event.seq
        brokenAt = undefined
        // Progress may follow the end.
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
    if (performance.now() - brokenAt >= retryMs) throw broken ?? cutOff()
    await after(limits.stream.retryMs / 4, undefined, { signal })
  }
}

const cutOff = () => new BaxError('engine_unreachable', 'the crawl has not ended, but this engine does not run it')
