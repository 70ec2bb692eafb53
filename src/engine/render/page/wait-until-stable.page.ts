/**
 * Runs before a page's own scripts, and knows when its content has settled: nothing is being fetched, no short timer is
 * waiting, no script is loading, the document has been left alone for a moment, and what it shows is not a placeholder.
 */
import { Activity, type SettleLimits } from './activity.page.ts'
import { watchImages } from './images.page.ts'
import { type PageReading, pendingRefresh, readPlainPage } from './read.page.ts'
import { sealPage } from './seal.page.ts'
import { reportAllAsSeen, standInForFrames } from './offscreen.page.ts'
import { viewOf } from './view.page.ts'
import { watchPage } from './watch.page.ts'

export interface SettleOptions {
  /** The target is never painted: what waits for a frame gets a timer instead. */
  readonly unpainted: boolean
  /** The browser loads images; otherwise those that a script listens to are only asked for. */
  readonly hasImages: boolean
  /** A `<meta http-equiv=refresh>` that fires later than this is no redirect. */
  readonly refreshSecs: number
}

/** What a call waits for; `go`: again after something has changed, or once more because the page is still waited for. */
export interface SettleCall extends SettleLimits {
  readonly go: 'first' | 'afresh' | 'on'
}

/** A page that has settled, or has not in time. */
export interface SettledPage {
  /** Its content is still missing; there may be time left for it. */
  readonly isLate?: true
  /** As it was then, unless there are shadow trees in it. */
  readonly page?: PageReading
  /** As `pendingRefresh` has it. */
  readonly refresh: number | null
}

/** Installs the watch in a top-level document; frames have nothing of ours in them. */
export function install({ unpainted, hasImages, refreshSecs }: SettleOptions): void {
  if (globalThis.top !== globalThis.self) return
  const activity = new Activity()
  const seal = sealPage()
  if (unpainted) standInForFrames()
  else reportAllAsSeen()
  const added = watchImages(activity, hasImages)
  watchPage(activity, added)
  const settled = async ({ go, ...limits }: SettleCall): Promise<SettledPage> => {
    if (go === 'afresh') activity.touch()
    const outcome = await activity.settled(limits, go === 'on')
    const refresh = pendingRefresh(refreshSecs)
    if (outcome === 'slice' && refresh === null) return { isLate: true, refresh }
    const page = readPlainPage()
    return { refresh, ...(page && { page }) }
  }
  const isEmpty = () => viewOf() === 'nothing'
  Object.defineProperty(globalThis, Symbol.for('bax.page'), { value: { settled, isEmpty, seal } })
}
