/**
 * Runs before the scripts of a page, and detects when its content is stable: no requests, short timers or loading scripts
 * are pending, the document has not changed for a moment, and it does not show a placeholder.
 */
import { Activity, type StableLimits } from './activity.page.ts'
import { watchImages } from './images.page.ts'
import { type PageReading, readPlainPage } from './read.page.ts'
import { sealPage } from './seal.page.ts'
import { reportAllAsSeen, emulateFrames } from './offscreen.page.ts'
import { viewOf } from './view.page.ts'
import { watchPage } from './watch.page.ts'

export interface StableOptions {
  /** Whether the target is never painted, so that frames have to be emulated. */
  readonly unpainted: boolean
  /** Whether the browser loads images; otherwise those that a script listens to are only checked. */
  readonly hasImages: boolean
}

/** Options of a call. `phase`: the first call, one after a change, or one that continues an incomplete wait. */
export interface StableCall extends StableLimits {
  readonly phase: 'first' | 'changed' | 'continue'
}

/** The page when the wait has ended. */
export interface StablePage {
  /** Content is still missing; the call can be repeated if there is time left. */
  readonly isIncomplete?: true
  /** The page at that moment, unless it has shadow trees. */
  readonly page?: PageReading
}

/** Installs the script in top-level documents only. */
export function install({ unpainted, hasImages }: StableOptions): void {
  if (globalThis.top !== globalThis.self) return
  const activity = new Activity()
  const seal = sealPage()
  if (unpainted) emulateFrames()
  else reportAllAsSeen()
  const onAdded = watchImages(activity, hasImages)
  watchPage(activity, onAdded)
  const waitUntilStable = async ({ phase, ...limits }: StableCall): Promise<StablePage> => {
    if (phase === 'changed') activity.touch()
    const outcome = await activity.untilStable(limits, phase === 'continue')
    if (outcome === 'slice') return { isIncomplete: true }
    const page = readPlainPage()
    return page ? { page } : {}
  }
  const isEmpty = () => viewOf() === 'nothing'
  Object.defineProperty(globalThis, Symbol.for('bax.page'), { value: { waitUntilStable, isEmpty, seal } })
}
