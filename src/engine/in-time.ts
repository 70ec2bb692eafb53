/**
 * Runs work that is given up after so many milliseconds, or with `signal`.
 * @throws what `late` makes when the time was up, the signal's reason when it was aborted
 */
export async function within<T>(
  signal: AbortSignal,
  clock: { readonly ms: number; readonly late: () => Error },
  work: (signal: AbortSignal, deadline: number) => Promise<T>,
): Promise<T> {
  // Made by hand: Node 20 keeps every combined signal for as long as one of its sources lives.
  const inner = new AbortController()
  const give = () => inner.abort(signal.reason)
  if (signal.aborted) give()
  signal.addEventListener('abort', give, { once: true })
  const timer = setTimeout(() => inner.abort(clock.late()), clock.ms)
  try {
    return await work(inner.signal, performance.now() + clock.ms)
  } catch (error) {
    if (inner.signal.aborted) throw inner.signal.reason
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', give)
  }
}
