/** Frames on the wire: server-sent events with keep-alives, or NDJSON, from the same iterable. */
import type { Frame } from '../../core/operation/stream.ts'
import { limits } from '../../core/limits/limits.ts'

const encoder = new TextEncoder()

/** A response that sends every frame as it comes and ends with the iterable; `onEnd` runs then, or when the reader goes away. */
export function frameResponse(frames: AsyncIterable<Frame>, accept: string | undefined, onEnd: () => void): Response {
  const lines = accept?.includes('application/x-ndjson') ?? false
  const encode = lines ? line : event
  const iterator = frames[Symbol.asyncIterator]()
  let beat: NodeJS.Timeout | undefined
  const end = () => {
    clearInterval(beat)
    onEnd()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (lines) return
        // No blank lines: some parsers deliver an empty message for a block without data.
        controller.enqueue(encoder.encode(`retry: ${limits.stream.retryMs}\n`))
        beat = setInterval(() => controller.enqueue(encoder.encode(': ka\n')), limits.stream.keepAliveMs)
      },
      async pull(controller) {
        try {
          const { value, done } = await iterator.next()
          if (!done) return controller.enqueue(encode(value))
        } catch (error) {
          end()
          throw error
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

/** Many readers get the same frames: each is written out once. */
function onceEach(write: (frame: Frame) => string): (frame: Frame) => Uint8Array {
  const written = new WeakMap<Frame, Uint8Array>()
  return (frame) => {
    let bytes = written.get(frame)
    if (!bytes) written.set(frame, (bytes = encoder.encode(write(frame))))
    return bytes
  }
}

const line = onceEach((frame) => `${JSON.stringify(frame)}\n`)

// No `event:` line: EventSource's onmessage never sees named events.
const event = onceEach((frame) => `id: ${frame.seq}\ndata: ${JSON.stringify(frame)}\n\n`)
