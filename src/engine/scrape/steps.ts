/** Types of the arguments of the steps of a scrape. */
import type { WorkOptions } from '../../core/process/turns.ts'
import type { LoadContext } from './load-page.ts'
import type { LoadedPage } from './loaded-page.ts'
import type { ScrapePlan } from './plan.ts'
import type { WriteCondition } from './reading.ts'

/** Loads the page of a scrape; the default is `loadPage`. */
export type PageLoader = (plan: ScrapePlan, context: LoadContext) => Promise<LoadedPage>

/** The caller of a scrape: its signal and its API key. */
export type ScrapeCaller = Required<WorkOptions>

/** Context of one step of a scrape. All steps throw BaxError for failures of the page, or the reason of the signal. */
export type StepContext = Pick<LoadContext, 'signal' | 'answers'>

export interface ReadingOptions {
  /** Whether worker threads read every HTML page, or those for which a thread is ready, instead of large pages only. */
  readonly all: boolean | 'ready'
  readonly write: WriteCondition
}
