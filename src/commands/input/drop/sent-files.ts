/** Waits for requests in which a page sends files as soon as they are selected. */
import type { Request } from 'playwright'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { CallLimit, CommandContext } from '../../../core/operation/command.ts'

/** Time for the page to begin to send the files, or the next part of them, in milliseconds. */
const startsMs = 50

/**
 * Runs `give`, and unless its output is falsy, waits until the requests that the page makes with the files are done, or
 * the timeout is over: until then, the page may refuse to send its form.
 */
export async function untilSent<Output>(
  { page, warn }: CommandContext,
  { signal, timeout }: CallLimit,
  give: () => Promise<Output>,
): Promise<Output> {
  const end = performance.now() + timeout
  const sending = new Set<Request>()
  let onDone = () => {}
  const start = (request: Request) => {
    if (request.method() !== 'GET' && request.resourceType() !== 'ping') sending.add(request)
  }
  const finish = (request: Request) => {
    if (sending.delete(request) && sending.size === 0) onDone()
  }
  page.on('request', start).on('requestfinished', finish).on('requestfailed', finish)
  try {
    const output = await give()
    if (!output) return output
    // In the page, since a busy one begins later.
    const pause = () => page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), startsMs)
    const sent = async () => {
      // Large files are sent in parts, one after the other.
      for (await pause(); sending.size > 0; await pause()) await new Promise<void>((resolve) => (onDone = resolve))
      return true
    }
    const left = Math.max(0, end - performance.now())
    const isDone = await withDeadline(sent(), { ms: left, signal, value: false }).catch(() => {
      signal.throwIfAborted()
      // The page has left.
      return true
    })
    if (!isDone) warn('the page was still sending the files when the time was over')
    return output
  } finally {
    page.off('request', start).off('requestfinished', finish).off('requestfailed', finish)
  }
}
