/** Detects navigations, and which of them no input in the page caused: typed URLs, commands, the browser's history. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Frame, Page, Request } from 'playwright'
import { unlessGone } from '../batch/playwright-errors.ts'
import { cdpSessionOf } from '../tabs/hung-script.ts'

export interface Navigation {
  /** Command that repeats it; null for a link or a form of the page. */
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
    const command = (['go_back', 'refresh', 'go_forward'] as const)[step + 1] ?? 'navigate_to'
    report({ command, url, mayBeCaused: true, startedAt }, at)
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
  }
}

async function positionOf(page: Page) {
  const { entries, currentIndex: index } = await historyOf(page)
  const entry = entries[index]
  const ids = entries.map(({ id }) => id)
  return entry && { index, id: entry.id, ids, url: entry.url, type: entry.transitionType }
}

/** Attempts to read the history, and the delay between them: a page cannot answer while the browser replaces it. */
const attempts = 20
const delayMs = 50

async function historyOf(page: Page) {
  const session = await cdpSessionOf(page)
  for (let attempt = 1; ; attempt++) {
    try {
      return await session.send('Page.getNavigationHistory')
    } catch (error) {
      if (attempt === attempts || !/Not attached to an active page/.test(String(error))) throw error
      await pause(delayMs)
    }
  }
}
