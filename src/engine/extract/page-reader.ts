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

/** What is read: the part of the page, and the frames inside it. */
export interface Reading {
  readonly element: ElementHandle<Element> | undefined
  readonly frames: FrameSnapshot[]
}

/** Frames read at most; a page of advertisements has hundreds. */
const mostFrames = 30
const frameMs = 3000

/**
 * Calls `read` with the reader of the page's document (or of the document that `element` stands in).
 * @throws BaxError `timeout` when the page does not answer.
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
      const frames = await framesIn(frame, { left: mostFrames })
      return await read(module, { element: handle, frames })
    } finally {
      await Promise.allSettled([module.dispose(), handle?.dispose()])
    }
  }
  const work = attempt().catch((error: unknown) => {
    // A page that navigates while it is read is read again, once.
    if (!/context was destroyed|navigating/i.test(String(error))) throw error
    return page.waitForLoadState('domcontentloaded').then(attempt)
  })
  const { evaluateMs: ms } = limits.command
  const error = () =>
    new BaxError('timeout', `the page did not answer within ${ms / 1000} s`, {
      hint: 'a script of the page may be running without end; reload it',
      details: { url: page.url() },
    })
  return withDeadline(work, { ms, error })
}

/** The reader's functions in a frame; no name of the page's global scope is touched. */
const readerOf = (frame: Frame): Promise<JSHandle<Reader>> =>
  frame.evaluateHandle(`(() => { ${script}; return __bax_module })()`) as Promise<JSHandle<Reader>>

/** The visible frames of a document and their content; a frame that does not answer is left out. */
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
