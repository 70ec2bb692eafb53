/** Waits for requests in which a page sends files as soon as they are selected. */
import type { Request } from 'playwright'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { CallLimit, CommandContext } from '../../../core/operation/command.ts'

/** Time for the page to begin to send the files, in milliseconds. */
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
  const sending = new Set<Request>()
  let onDone = () => {}
  const start = (request: Request) => {
    if (request.method() !== 'GET' && request.resourceType() !== 'ping') sending.add(request)
  }
  const end = (request: Request) => {
    if (sending.delete(request) && sending.size === 0) onDone()
  }
  page.on('request', start).on('requestfinished', end).on('requestfailed', end)
  try {
    const output = await give()
    if (!output) return output
    // In the page, since a busy one begins later.
    const pause = () => page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), startsMs)
    const sent = async () => {
      await pause()
      if (sending.size > 0) await new Promise<void>((resolve) => (onDone = resolve))
      await pause()
      return true
    }
    const isDone = await withDeadline(sent(), { ms: timeout, signal, value: false }).catch(() => {
      signal.throwIfAborted()
      // The page has left.
      return true
    })
    if (!isDone) warn(`the page was still sending after ${timeout} ms`)
    return output
  } finally {
    page.off('request', start).off('requestfinished', end).off('requestfailed', end)
  }
}
