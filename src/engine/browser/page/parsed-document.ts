/** Documents that are being parsed: their scripts do not listen yet, and browsers drop input before the first frame. */
import type { Frame } from 'playwright'
import { withDeadline } from '../../../core/process/deadline.ts'
import { documentIn } from './internals.ts'

/** Maximum time for the first frame of a document, which takes long on a busy machine. */
const frameMs = 2000

/** Documents that were not parsed in time: their responses may never end. */
const endless = new WeakSet<object>()

/** Waits until a document is parsed and has a frame, at most `ms`, and only once for each document. */
export async function untilParsed(frame: Frame, ms: number): Promise<void> {
  const document = documentIn(frame)
  if (document && endless.has(document)) return
  try {
    await frame.waitForLoadState('domcontentloaded', { timeout: Math.max(1, ms) })
    await withDeadline(firstFrame(frame), { ms: frameMs, value: undefined })
  } catch (error) {
    // Ignore a page that closes or navigates on.
    if (document && error instanceof Error && error.name === 'TimeoutError') endless.add(document)
  }
}

const firstFrame = (frame: Frame): Promise<void> =>
  frame.evaluate(async () => {
    // Hidden tabs have no frames.
    if (!document.hidden) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  })
