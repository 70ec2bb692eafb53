/** Detects navigations, and which of them no input in the page caused: typed URLs, commands, the browser's history. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Frame, Page, Request } from 'playwright'
import { unlessGone } from '../page/playwright-errors.ts'
import { cdpSessionOf } from '../page/hung-script.ts'

export interface Navigation {
  /** Command that repeats it; null for a link, a form or a script of the page. */
  readonly command: 'navigate_to' | 'go_back' | 'go_forward' | 'refresh' | null
  readonly url: string
  /** Whether the page itself can have caused it, with `history.back()` or `location.reload()`. */
  readonly mayBeCaused: boolean
  /** Time of its first request, or of a change of the URL within the page. */
  readonly startedAt: number
}

interface Position {
  readonly index: number
  readonly id: number
  /** Changes with each document, as opposed to changes of the URL within one. */
  readonly loaderId: string
}

/** Navigations of the browser itself, in contrast to `link`, `form_submit` and others of pages. */
const ownTypes: ReadonlySet<string> = new Set(['typed', 'address_bar', 'auto_bookmark', 'generated', 'keyword'])

/** Reports the navigations of a page; returns a function that stops it. */
export async function watchNavigations(
  page: Page,
  report: (seen: Navigation, at: number) => void,
  fail: (error: Error) => void,
): Promise<() => void> {
  let last = await positionOf(page)
  const seen = new Set<number>(last?.ids)
  let work: Promise<unknown> = Promise.resolve()
  const { isFromPage, stop } = await watchCauses(page)
  const check = async (at: number, startedAt: number) => {
    const now = await positionOf(page)
    if (!now) return
    const before: Position | undefined = last
    last = now
    const isKnown = seen.has(now.id)
    for (const id of now.ids) seen.add(id)
    const { url, type } = now
    if (!isKnown) {
      const isOwn = ownTypes.has(type)
      return report({ command: isOwn ? 'navigate_to' : null, url, mayBeCaused: !isOwn, startedAt }, at)
    }
    const step = now.index - (before?.index ?? now.index)
    const isReload = step === 0 && before?.loaderId !== now.loaderId && !isFromPage(now.loaderId)
    const known = (['go_back', isReload ? 'refresh' : null, 'go_forward'] as const)[step + 1]
    report({ command: known === undefined ? 'navigate_to' : known, url, mayBeCaused: true, startedAt }, at)
  }
  const onNavigated = (frame: Frame) => {
    if (frame !== page.mainFrame() || frame.url().startsWith('chrome-error:')) return
    const at = Date.now()
    const startedAt = requestedAt ?? at
    requestedAt = undefined
    work = work.then(() => unlessGone(check(at, startedAt))).catch(fail)
  }
  let requestedAt: number | undefined
  const onRequest = (request: Request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame() && !request.redirectedFrom())
      requestedAt = Date.now()
  }
  page.on('framenavigated', onNavigated)
  page.on('request', onRequest)
  return () => {
    page.off('framenavigated', onNavigated)
    page.off('request', onRequest)
    stop()
  }
}

/** Observes which documents a script, a link, a form or a header of the page has requested, by their loaders. */
async function watchCauses(page: Page): Promise<{ isFromPage(loaderId: string): boolean; stop(): void }> {
  const session = await cdpSessionOf(page)
  const requested = new Map<string, string>()
  const fromPage = new Set<string>()
  const onRequested = ({ frameId, url }: { frameId: string; url: string }) => void requested.set(frameId, url)
  const onStarted = ({ frameId, loaderId, url }: { frameId: string; loaderId: string; url: string }) => {
    if (requested.get(frameId) === url) fromPage.add(loaderId)
    requested.delete(frameId)
  }
  session.on('Page.frameRequestedNavigation', onRequested)
  session.on('Page.frameStartedNavigating', onStarted)
  await session.send('Page.enable')
  return {
    isFromPage: (loaderId) => fromPage.has(loaderId),
    stop() {
      session.off('Page.frameRequestedNavigation', onRequested)
      session.off('Page.frameStartedNavigating', onStarted)
    },
  }
}

async function positionOf(page: Page) {
  const session = await cdpSessionOf(page)
  const { entries, currentIndex: index } = await answered(() => session.send('Page.getNavigationHistory'))
  const { frameTree } = await answered(() => session.send('Page.getFrameTree'))
  const entry = entries[index]
  const ids = entries.map(({ id }) => id)
  const { loaderId } = frameTree.frame
  return entry && { index, id: entry.id, ids, url: entry.url, type: entry.transitionType, loaderId }
}

/** Attempts to ask a page, and the delay between them: it cannot answer while the browser replaces it. */
const attempts = 20
const delayMs = 50

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === attempts || !/Not attached to an active page/.test(String(error))) throw error
      await pause(delayMs)
    }
  }
}
