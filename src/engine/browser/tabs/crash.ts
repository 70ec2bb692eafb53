/** Crashed pages: detection, and whether a page can be loaded again without repeating what it did. */
import type { Frame, Page, Request } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { toBaxError } from '../page/playwright-errors.ts'
import { pageOf } from '../page/net-reason.ts'
import { shownUrl } from './page-events.ts'

/** Crashed pages, with the cause if it is known. */
const crashed = new WeakMap<Page, string | undefined>()
/** HTTP method of the request for the page's current document. */
const methods = new WeakMap<Page, string>()

/**
 * Records the crash of a page, with its cause, and how its documents were requested. Call it once per page, as early as
 * possible.
 */
export function watchCrash(page: Page, causeOf?: () => string | undefined): void {
  let requested: string | undefined
  page.once('crash', () => crashed.set(page, causeOf?.()))
  page.on('request', (request: Request) => {
    const isDocument = request.isNavigationRequest() && pageOf(request) === page
    if (isDocument && request.frame() === page.mainFrame()) requested = request.method()
  })
  page.on('framenavigated', (frame: Frame) => {
    if (frame !== page.mainFrame()) return
    if (requested !== undefined) methods.set(page, requested)
    requested = undefined
  })
}

/** Returns the HTTP method of the request for the page's document; undefined when it was not seen. */
export const documentMethod = (page: Page): string | undefined => methods.get(page)

export const hasCrashed = (page: Page): boolean => crashed.has(page)

/** Describes the crash of a page. */
export function crashText(page: Page): string {
  const cause = crashed.get(page)
  return cause === undefined ? 'the page crashed' : `the page was ended: ${cause}`
}

/** Outcome of a crash for its tab. */
export interface Recovery {
  /** The URL that the tab showed. */
  readonly url: string
  /** Why it was not loaded again; undefined when it was. */
  readonly obstacle?: string | undefined
  /** Description of the crash. */
  readonly text?: string
}

/** Builds the error that reports a crash and its outcome for the tab. */
export function crashedError({ url, obstacle, text = 'the page crashed' }: Recovery): BaxError {
  const shown = shownUrl(url)
  const reloaded = obstacle === undefined
  const outcome = reloaded ? `the tab was reloaded at ${shown}` : `the tab was not reloaded: ${obstacle}`
  return new BaxError('page_crashed', `${text}; ${outcome}`, {
    hint: reloaded ? 'repeat the command' : 'open the page again',
    details: { reloaded, url: shown },
  })
}

/** Rejects when the page crashes while `work` runs: calls of other protocol sessions would wait for their timeout. */
export async function unlessCrashed<T>(page: Page, work: () => Promise<T>): Promise<T> {
  let onCrash!: () => void
  const crash = new Promise<never>((_, reject) => {
    onCrash = () =>
      reject(crashedError({ url: page.url(), obstacle: 'it is not the active tab', text: crashText(page) }))
    page.once('crash', onCrash)
  })
  try {
    return await Promise.race([work(), crash])
  } finally {
    page.off('crash', onCrash)
  }
}

/** Opens a URL; returns the reason if that fails. A page that is still loading counts as open. */
export async function loadFailure(page: Page, url: string): Promise<string | undefined> {
  const { reloadMs } = limits.session
  const start = performance.now()
  try {
    await unlessCrashed(page, () => page.goto(url, { waitUntil: 'commit', timeout: reloadMs }))
  } catch (error) {
    return hasCrashed(page) ? 'it crashed again' : toBaxError(error, 'loading it').message
  }
  const left = Math.max(1, reloadMs - (performance.now() - start))
  // Ignore the timeout; a crash is reported below.
  await unlessCrashed(page, () => page.waitForLoadState('load', { timeout: left })).catch(() => {})
  return hasCrashed(page) ? 'it crashed again' : undefined
}

/** Returns why the document of a crashed page must not be requested again; undefined when it may be. */
export async function reloadObstacle(page: Page): Promise<string | undefined> {
  const { protocol } = new URL(page.url())
  if (!/^(?:https?|file|data):$/.test(protocol)) return 'its content has no URL'
  const method = documentMethod(page)
  const isPost = method === undefined ? await isFormResult(page) : method !== 'GET'
  return isPost ? `it showed the result of a ${method ?? 'form'} request` : undefined
}

/** Checks the history of a page whose request was not seen, such as a popup. The browser has it even after a crash. */
async function isFormResult(page: Page): Promise<boolean> {
  try {
    const session = await page.context().newCDPSession(page)
    const history = session.send('Page.getNavigationHistory')
    const { entries, currentIndex } = await withDeadline(history, { ms: limits.session.titleMs })
    return entries[currentIndex]?.transitionType === 'form_submit'
  } catch {
    // Without a history, requesting it again is not known to be safe.
    return true
  }
}
