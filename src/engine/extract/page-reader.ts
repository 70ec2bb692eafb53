/** Runs the reader inside a page and its frames, within a time limit. */
import type { ElementHandle, Frame, JSHandle, Locator, Page } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import script from './reader.page.ts?inline'
import type * as reader from './reader.page.ts'

type Reader = typeof reader
interface FrameSnapshot {
  readonly element: ElementHandle<Element>
  readonly content: string
}

/** The element to read, undefined for the whole document, and the frames inside it. */
interface Reading {
  readonly element: ElementHandle<Element> | undefined
  readonly frames: FrameSnapshot[]
}

/** Maximum number of frames to read; pages with advertisements have hundreds. */
const maxFrames = 30
const frameMs = 3000

/**
 * Calls `read` with the reader of the page's document, or of the document that contains `element`.
 * @throws BaxError `timeout` when the page does not respond.
 */
export async function readPage<Result>(
  page: Page,
  element: Locator | undefined,
  read: (module: JSHandle<Reader>, reading: Reading) => Promise<Result>,
): Promise<Result> {
  const attempt = async (): Promise<Result> => {
    const handle = element ? ((await element.elementHandle()) as ElementHandle<Element>) : undefined
    const frame = (await handle?.ownerFrame()) ?? page.mainFrame()
    const module = await readerOf(frame)
    try {
      const frames = await framesIn(frame, { left: maxFrames })
      return await read(module, { element: handle, frames })
    } finally {
      await Promise.allSettled([module.dispose(), handle?.dispose()])
    }
  }
  const work = attempt().catch((error: unknown) => {
    // Retry once when the page navigates while it is read.
    if (!/context was destroyed|navigating/i.test(String(error))) throw error
    return page.waitForLoadState('domcontentloaded').then(attempt)
  })
  const { evaluateMs: ms } = limits.command
  const error = () =>
    new BaxError('timeout', `the page did not answer within ${ms / 1000} s`, {
      hint: 'reload the page: one of its scripts may be running endlessly',
      details: { url: page.url() },
    })
  return withDeadline(work, { ms, error })
}

/** Returns the rendered page, or one element of it, as Markdown, including the content of visible frames. */
export function markdownOf(page: Page, element?: Locator): Promise<string> {
  return readPage(page, element, (module, reading) =>
    module.evaluate((reader, { element, frames }) => reader.markdown(element, frames), reading),
  )
}

/** Loads the reader's functions into a frame without changing the page's global scope. */
const readerOf = (frame: Frame): Promise<JSHandle<Reader>> =>
  frame.evaluateHandle(`(() => { ${script}; return __bax_module })()`) as Promise<JSHandle<Reader>>

/** Returns the visible frames of a document and their content, without frames that do not respond. */
async function framesIn(frame: Frame, budget: { left: number }): Promise<FrameSnapshot[]> {
  const children = frame.childFrames().slice(0, budget.left)
  budget.left -= children.length
  const found = await Promise.all(
    children.map((child) =>
      // A frame may navigate or go while it is read.
      withDeadline(snapshotOf(child, budget), { ms: frameMs, value: undefined, unref: true }).catch(() => undefined),
    ),
  )
  return found.filter((snapshot) => snapshot !== undefined)
}

async function snapshotOf(frame: Frame, budget: { left: number }): Promise<FrameSnapshot | undefined> {
  const element = (await frame.frameElement()) as ElementHandle<Element>
  const shown = await element.evaluate((node) => node.clientWidth > 20 && node.clientHeight > 20)
  if (!shown) return undefined
  const module = await readerOf(frame)
  const frames = await framesIn(frame, budget)
  const content = await module.evaluate((reader, inner) => reader.snapshot(inner), frames)
  await module.dispose()
  return { element, content }
}
