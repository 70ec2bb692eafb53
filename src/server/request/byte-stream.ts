/** Bodies of responses that are read while they are sent. */
import type { ServerResponse } from 'node:http'

/**
 * Returns a stream with backpressure. A source that fails cuts the connection, so that the response does not look
 * complete: the server would print an error of the stream, and add it to the response. `cancel` is called when the
 * client disconnects.
 */
export function byteStream(
  chunks: AsyncIterator<Uint8Array>,
  outgoing: ServerResponse | undefined,
  cancel: () => unknown = () => chunks.return?.(),
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          if (outgoing) outgoing.destroy()
          else controller.error(error)
        }
      },
      async cancel() {
        await cancel()
      },
    },
    { highWaterMark: 0 },
  )
}
