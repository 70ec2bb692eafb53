/** Follows a crawl to its end, across broken connections. */
import { setTimeout as after } from 'node:timers/promises'
import { openStream } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
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
}

/**
 * The events after `since`, to crawl.finished. A connection that breaks is made anew; nothing is lost or comes twice.
 * @throws BaxError `engine_unreachable` when it cannot be made again for a minute
 */
export async function* followCrawl(
  { transport, http, id }: Followed,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<CrawlEvent> {
  let seen = since
  let opened = false
  let brokenAt: number | undefined
  for (;;) {
    try {
      const frames = await openStream(transport, http, { id, since: seen }, { signal, strict: true })
      if (frames === null) return
      opened = true
      brokenAt = undefined
      for await (const frame of frames) {
        const event = frame as unknown as CrawlEvent
        seen = event.seq
        yield event
        if (event.type === 'crawl.finished') return
      }
    } catch (error) {
      const broken = error instanceof BaxError && error.code === 'engine_unreachable' && opened && !signal.aborted
      if (!broken) throw error
      if (brokenAt !== undefined && performance.now() - brokenAt > limits.stream.comeBackMs) throw error
    }
    brokenAt ??= performance.now()
    await after(limits.stream.retryMs / 4, undefined, { signal })
  }
}
