/** Copies of the page of a session, for its replay. */
import { randomBytes } from 'node:crypto'
import type { ElementHandle, Page } from 'playwright'
import { asBaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { locateAll, parseSelector } from '../elements/selectors.ts'
import { listWorlds, WorldGone } from '../observe/worlds.ts'
import { injectedIn } from '../page/internals.ts'
import { pageFunction } from '../page/page-function.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { shownUrl } from '../tabs/page-events.ts'
import type { Controls } from './controls.page.ts'
import controlsScript from './controls.page.ts?inline'
import type { Resources } from './resources.ts'
import type { PageSnapshot, SnapshotRequest } from './snapshot.page.ts'
import snapshotScript from './snapshot.page.ts?inline'

const listControls = String(pageFunction(controlsScript, 'shownControls'))
/** Time for the list of controls, without which the copy is kept. */
const controlsMs = 500

const { pageChars, captureMs, loadMs } = limits.replay

/** One copy of a page. */
export interface Captured extends Omit<PageSnapshot, 'images' | 'sheets'> {
  readonly url: string
  /** JPEG in base64, for a page that cannot be copied. */
  readonly picture?: string
  /** Images and style sheets that were left out. */
  readonly missing: number
  /** Buttons, links and fields of a page on which a command failed; missing if it did not answer in time. */
  readonly controls?: Controls | undefined
}

export interface CaptureOptions {
  /** Selector of the element to mark. */
  readonly selector?: string | undefined
  /** Whether to list the buttons, links and fields of the page. */
  readonly listsControls?: boolean
}

/** The reason for a missing copy. */
export interface Missing {
  readonly missing: string
}

/** Copies the active page; never fails. */
export async function capturePage(
  target: BatchTarget,
  resources: Resources,
  options: CaptureOptions = {},
): Promise<Captured | Missing> {
  const page = target.activePage
  if (!page) return { missing: 'no tab was open' }
  if (target.crashed) return { missing: 'the page had crashed' }
  const dialog = target.dialogs.newest
  if (dialog) return { missing: `a dialog was open: ${dialog.type()} ${JSON.stringify(dialog.message())}` }
  const deadline = { ms: captureMs, error: `the page did not answer within ${captureMs} ms` }
  try {
    return await withDeadline(copy(page, resources, options), deadline)
  } catch (error) {
    return { missing: toBaxError(error, 'copying the page').message }
  }
}

async function copy(page: Page, resources: Resources, options: CaptureOptions): Promise<Captured> {
  const { selector, listsControls } = options
  await untilParsed(page)
  const element = selector === undefined ? undefined : await firstMatch(page, selector)
  try {
    const box = (await element?.boundingBox()) ?? undefined
    const token = `bax${randomBytes(8).toString('hex')}`
    const { images, sheets, html, ...copied } = await inIsolation(page, { token, box, maxChars: pageChars })
    const facts = listsControls ? { ...copied, controls: await controlsOf(page) } : copied
    const url = shownUrl(page.url())
    if (html === undefined) return { ...facts, url, missing: 0, picture: await pictureOf(page) }
    const filled = await resources.fill(page, html, { token, images, sheets })
    return { ...facts, ...filled, url }
  } finally {
    await element?.dispose()
  }
}

/** Returns the controls of a page; undefined when it does not answer. */
async function controlsOf(page: Page): Promise<Controls | undefined> {
  const asking = injectedIn(page).then((injected) => injected?.call<Controls>(listControls, null))
  return withDeadline(asking, { ms: controlsMs, value: undefined }).catch(() => undefined)
}

/** Waits for a document that has begun to load, but not for a slow one. */
async function untilParsed(page: Page): Promise<void> {
  try {
    await page.waitForLoadState('domcontentloaded', { timeout: loadMs })
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
  }
}

/** Returns the element that a command will use; undefined when nothing matches, which the command reports. */
export async function firstMatch(page: Page, selector: string): Promise<ElementHandle<Element> | undefined> {
  try {
    const all = locateAll(page, parseSelector(selector))
    const [visible] = await all.filter({ visible: true }).first().elementHandles()
    return (visible ?? (await all.first().elementHandles())[0]) as ElementHandle<Element> | undefined
  } catch (error) {
    // The command reports an invalid selector and a stale reference.
    if (asBaxError(error).code === 'invalid_selector' || /selector|aria-ref/i.test(String(error))) return undefined
    throw error
  }
}

/** Copies the document out of reach of its scripts; a second time when it was replaced meanwhile. */
async function inIsolation(page: Page, request: SnapshotRequest): Promise<PageSnapshot> {
  for (let retry = true; ; retry = false) {
    try {
      const [world] = await listWorlds(page)
      if (!world) throw new WorldGone()
      return await world.call<PageSnapshot>(snapshotScript, 'snapshot', request)
    } catch (error) {
      if (!retry || !(error instanceof WorldGone)) throw error
      await untilParsed(page)
    }
  }
}

const pictureOf = async (page: Page): Promise<string> =>
  (await page.screenshot({ type: 'jpeg', quality: 40, timeout: captureMs })).toString('base64')
