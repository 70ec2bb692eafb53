/** Streaming responses: server-sent events with keep-alives, or NDJSON. */
import type { ServerResponse } from 'node:http'
import type { Frame } from '../../core/operation/call.ts'
import { limits } from '../../core/limits/limits.ts'

const encoder = new TextEncoder()

/**
 * Returns a response that sends every frame immediately. `onEnd` runs when the frames end or the client disconnects. An
 * error of the frames cuts the connection of `outgoing`, so that the response does not look complete.
 */
export function frameResponse(
  frames: AsyncIterable<Frame>,
  accept: string | undefined,
  onEnd: () => void,
  outgoing?: ServerResponse,
): Response {
  const lines = accept?.includes('application/x-ndjson') ?? false
  const encode = lines ? line : event
  const iterator = frames[Symbol.asyncIterator]()
  let keepAlive: NodeJS.Timeout | undefined
  const end = () => {
    clearInterval(keepAlive)
    onEnd()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (lines) return
        // No blank lines: some parsers deliver an empty message for a block without data.
        controller.enqueue(encoder.encode(`retry: ${limits.stream.retryMs}\n`))
        keepAlive = setInterval(() => controller.enqueue(encoder.encode(': ka\n')), limits.stream.keepAliveMs)
      },
      async pull(controller) {
        try {
          const { value, done } = await iterator.next()
          if (!done) return controller.enqueue(encode(value))
        } catch (error) {
          end()
          if (!outgoing) throw error
          return void outgoing.destroy()
        }
        end()
        controller.close()
      },
      async cancel() {
        end()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': lines ? 'application/x-ndjson' : 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  })
}

/** Caches encoded frames: many clients receive the same ones. */
function cached(write: (frame: Frame) => string): (frame: Frame) => Uint8Array {
  const cache = new WeakMap<Frame, Uint8Array>()
  return (frame) => {
    let bytes = cache.get(frame)
    if (!bytes) cache.set(frame, (bytes = encoder.encode(write(frame))))
    return bytes
  }
}

const line = cached((frame) => `${JSON.stringify(frame)}\n`)

// No `event:` line: EventSource's onmessage never sees named events.
const event = cached((frame) => `id: ${frame.seq}\ndata: ${JSON.stringify(frame)}\n\n`)
