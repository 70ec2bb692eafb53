import { withDeadline } from './deadline.ts'

/**
 * Yields what the source yields until the signal is aborted, which also ends a pending read.
 * @throws the reason of the signal, and the errors of the source
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { value, done } = await withDeadline(iterator.next(), { signal })
      if (done) return
      yield value
    }
  } finally {
    // Not awaited: a generator returns only after its pending read. The reader has the error of a source that fails.
    void iterator.return?.().catch(() => {})
  }
}
