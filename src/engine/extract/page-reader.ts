/** Reads a page and its frames, within a time limit. */
import type { ElementHandle, Frame, JSHandle, Locator, Page } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import markdownScript from './markdown.page.ts?inline'
import type * as markdown from './markdown.page.ts'
import snapshotScript from './snapshot.page.ts?inline'
import type * as snapshot from './snapshot.page.ts'

interface FrameSnapshot {
  readonly element: ElementHandle<Element>
  readonly content: string
}

/** The element to read, undefined for the whole document, and the frames inside it. */
interface Reading {
  readonly element: ElementHandle<Element> | undefined
  readonly frames: FrameSnapshot[]
}

/** Frames that are not read: those beyond the maximum, and the URLs of those that do not respond. */
interface Omitted {
  excess: number
  readonly silent: string[]
}

/** Maximum number of frames to read; pages with advertisements have hundreds. */
const maxFrames = 30
/** Time for each of the two calls into a frame, in milliseconds. */
const frameMs = 5000

interface ReadOptions {
  /** The script whose functions `read` calls. */
  readonly script: string
  /** By default the whole document. */
  readonly element?: Locator | undefined
  /** Is told about frames that could not be read. */
  readonly warn: (text: string) => void
}

/**
 * Calls `read` with the functions of a script in the page's document, or in the document that contains `element`.
 * @throws BaxError `timeout` when the page does not respond.
 */
async function readPage<Module, Result>(
  page: Page,
  { script, element, warn }: ReadOptions,
  read: (module: JSHandle<Module>, reading: Reading) => Promise<Result>,
): Promise<Result> {
  const attempt = async (): Promise<Result> => {
    const handle = element ? ((await element.elementHandle()) as ElementHandle<Element>) : undefined
    const frame = (await handle?.ownerFrame()) ?? page.mainFrame()
    const module = await load<Module>(frame, script)
    try {
      const omitted: Omitted = { excess: 0, silent: [] }
      const frames = await framesIn(frame, { left: maxFrames, omitted }, handle)
      const result = await read(module, { element: handle, frames })
      for (const warning of warningsOf(omitted)) warn(warning)
      return result
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
export const markdownOf = (page: Page, warn: ReadOptions['warn'], element?: Locator): Promise<string> =>
  readPage<typeof markdown, string>(page, { script: markdownScript, element, warn }, (module, reading) =>
    module.evaluate((reader, { element, frames }) => reader.markdown(element, frames), reading),
  )

/** Returns the tree of the rendered page as JSON, including the content of visible frames. */
export const snapshotOf = (page: Page, warn: ReadOptions['warn']): Promise<string> =>
  readPage<typeof snapshot, string>(page, { script: snapshotScript, warn }, (module, { frames }) =>
    module.evaluate((reader, inner) => reader.snapshot(inner), frames),
  )

/** Loads the functions of a script into a frame without changing the page's global scope. */
const load = <Module>(frame: Frame, script: string): Promise<JSHandle<Module>> =>
  frame.evaluateHandle(`(() => { ${script}; return __bax_module })()`) as Promise<JSHandle<Module>>

interface FrameBudget {
  /** Number of further frames that may be read. */
  left: number
  readonly omitted: Omitted
}

/** Returns the visible frames of a document, or of an element, and their content, without frames that do not respond. */
async function framesIn(frame: Frame, budget: FrameBudget, within?: ElementHandle<Element>): Promise<FrameSnapshot[]> {
  const children = frame.childFrames().slice(0, budget.left)
  budget.left -= children.length
  budget.omitted.excess += frame.childFrames().length - children.length
  const found = await Promise.all(
    children.map((child) =>
      frameSnapshot(child, budget, within).catch(() => {
        // A frame may navigate or go while it is read.
        if (!child.isDetached()) budget.omitted.silent.push(child.url())
        return undefined
      }),
    ),
  )
  return found.filter((snapshot) => snapshot !== undefined)
}

async function frameSnapshot(
  frame: Frame,
  budget: FrameBudget,
  within?: ElementHandle<Element>,
): Promise<FrameSnapshot | undefined> {
  const limit = { ms: frameMs, unref: true }
  const opened = await withDeadline(open(frame, within), limit)
  if (!opened) return undefined
  const { element, module } = opened
  // These have a time of their own.
  const frames = await framesIn(frame, budget)
  const reading = module.evaluate((reader, inner) => reader.snapshot(inner), frames)
  const content = await withDeadline(reading, limit)
  await module.dispose()
  return { element, content }
}

/** Returns the element of a frame, and the reader in it; undefined for one that is not visible, or not in the element. */
async function open(frame: Frame, within?: ElementHandle<Element>) {
  const element = (await frame.frameElement()) as ElementHandle<Element>
  const isRead = await element.evaluate((node, root) => {
    let around: Node | null | undefined = root && node
    while (around && around !== root) around = around.parentNode ?? (around as Partial<ShadowRoot>).host
    return node.clientWidth > 20 && node.clientHeight > 20 && (!root || around === root)
  }, within)
  return isRead ? { element, module: await load<typeof snapshot>(frame, snapshotScript) } : undefined
}

function* warningsOf({ excess, silent }: Omitted): Iterable<string> {
  if (silent.length > 0)
    yield `the content is without ${counted(silent.length)} that did not respond: ${silent.slice(0, 3).join(', ')}`
  if (excess > 0)
    yield `${counted(excess)} of the page beyond the first ${maxFrames} ${excess === 1 ? 'was' : 'were'} not read`
}

const counted = (count: number): string => (count === 1 ? '1 frame' : `${count} frames`)
