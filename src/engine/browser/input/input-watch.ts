/** Determines whether input has reached a page, with listeners in an isolated world of its documents. */
import type { CDPSession, Frame, Page } from 'playwright'
import { cdpSessionOf } from '../tabs/hung-script.ts'
import type { InputKind } from './input-watch.page.ts'
import watchScript from './input-watch.page.ts?inline'
import { withDeadline } from '../../../core/process/deadline.ts'
import { oncePer } from '../../once-per.ts'

type Target = Page | Frame

const worldName = 'bax_input'
/** Timeout for installing the listeners; actions do not wait longer for a busy page. */
const installMs = 500

/** Installs the listeners in all documents of a page, now and after navigations. */
export async function watchInput(page: Page): Promise<void> {
  const installing = Promise.all(targetsOf(page).map(install))
  await withDeadline(installing, { ms: installMs, value: undefined })
}

/** Returns the milliseconds since the latest input of a kind in any document of the page; null when there was none. */
export async function lastInputAge(page: Page, kind: InputKind): Promise<number | null> {
  const ages = await callAll<number>(page, `lastInputAge(${JSON.stringify(kind)})`)
  return ages.length > 0 ? Math.min(...ages) : null
}

/** Returns the number of characters that have reached a field of the page within a time; null when unknown. */
export async function receivedWithin(page: Page, elapsedMs: () => number): Promise<number | null> {
  const ages = await callAll<number[]>(page, 'characterAges()')
  return ages.length > 0 ? ages.flat().filter((age) => age < elapsedMs()).length : null
}

/** Returns the page and its frames, since frames with their own process have their own session. */
const targetsOf = (page: Page): Target[] => [page, ...page.frames().slice(1)]

async function install(target: Target): Promise<void> {
  try {
    await watchDocuments(await cdpSessionOf(target))
  } catch {
    // Frames without their own session are watched through their page; closed targets need no watch. Without a watch,
    // the arrival of input is reported as unknown.
  }
}

const watchDocuments = oncePer(async (session: CDPSession) => {
  // Scripts for new documents run only while the Page domain is enabled.
  await session.send('Page.enable')
  const source = `;${watchScript}; __bax_module.watchInput()`
  await session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName, runImmediately: true })
})

/** Calls a function in all documents of a page; returns the results other than null. */
async function callAll<T>(page: Page, call: string): Promise<T[]> {
  const answers = await Promise.all(targetsOf(page).map((target) => callTarget<T>(target, call)))
  return answers.flat().filter((answer) => answer !== null)
}

async function callTarget<T>(target: Target, call: string): Promise<(T | null)[]> {
  try {
    const session = await cdpSessionOf(target)
    const { frameTree } = await session.send('Page.getFrameTree')
    return await Promise.all(framesOf(frameTree).map((frameId) => callFrame<T>(session, frameId, call)))
  } catch {
    // As for the installation, a failure means unknown.
    return []
  }
}

interface FrameTree {
  readonly frame: { readonly id: string }
  readonly childFrames?: readonly FrameTree[]
}

const framesOf = ({ frame, childFrames = [] }: FrameTree): string[] => [frame.id, ...childFrames.flatMap(framesOf)]

async function callFrame<T>(session: CDPSession, frameId: string, call: string): Promise<T | null> {
  // Returns the existing world of this name, which has the listeners.
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName })
  const expression = `;${watchScript}; __bax_module.${call}`
  const { result } = await session.send('Runtime.evaluate', { contextId, expression, returnByValue: true })
  return (result.value as T | undefined) ?? null
}
