/** Commands with their consequences: where the page was, what happened, what it looks like now. */
import { BaxError } from '../../../core/errors.ts'
import type { SessionEvent } from '../../../core/events.ts'
import { observationWishes, type StepRequest, type StepResult } from '../../../core/shapes/observe.ts'
import type { BatchTarget } from '../batch-target.ts'
import { inTime } from '../in-time.ts'
import { shownUrl } from '../page-events.ts'
import { type BatchTools, runBatch } from '../run-batch.ts'
import { tabIdOf } from '../tab-ids.ts'
import { type Observed, observe } from './observe.ts'
import { settle } from './settle.ts'

type Place = { url: string; title: string }
type Happened = { type: string; data: Record<string, unknown> }

/** One command: the page around it, and the number of the last event before it. */
interface Trail {
  readonly before: Place
  readonly seq: number
  after?: Place
  events?: Happened[]
}

/** A title that takes longer is not waited for: the page is busy. */
const titleMs = 500

/** Runs the commands of a step and observes the page. */
export async function runStep(
  target: BatchTarget,
  request: StepRequest,
  tools: BatchTools,
  signal: AbortSignal,
): Promise<Omit<StepResult, 'session_id'>> {
  // A crash before the first command is that command's to report.
  const before = request.observe && !target.crashed ? await observe(target, wishesForControls, signal) : null
  const start = await placeOf(target)
  const startSeq = target.events.lastSeq
  const tabs = new Set(target.pages.map(tabIdOf))
  const trails = new Map<number, Trail>()
  const batch = await runBatch(target, request, tools, signal, {
    before: async (index) => {
      trails.set(index, { before: await placeOf(target), seq: target.events.lastSeq })
    },
    after: async (index) => close(target, trails.get(index)!, await placeOf(target)),
  })
  const restless = await settle(target, startSeq, request.settle_ms, signal).catch(pageCrash)
  const end = await placeOf(target)
  const last = [...trails.values()].at(-1)
  // What an action sets off may come a moment after it.
  if (last) close(target, last, end)
  const seen = await lookAgain(target, request, signal)
  const joined = [batch.warning, restless, seen.warning].filter(Boolean).join('; ')
  return {
    ...batch,
    results: batch.results.map((result) => ({ ...result, ...shown(trails.get(result.index)) })),
    ...(seen.observed && { observation: seen.observed.observation }),
    ...(seen.screenshot !== undefined && { screenshot: seen.screenshot }),
    changes: {
      url_changed: start.url !== end.url,
      title_changed: start.title !== end.title,
      tabs_opened: target.pages
        .map((page) => ({ tab_id: tabIdOf(page), url: shownUrl(page.url()) }))
        .filter(({ tab_id: id }) => !tabs.has(id)),
      ...difference(before, seen.observed),
    },
    ...(joined && { warning: joined }),
  }
}

/** The response of a step that did not run because of what `signal` was aborted with; the page is not touched. */
export async function refuseStep(
  target: BatchTarget,
  request: StepRequest,
  tools: BatchTools,
  signal: AbortSignal,
): Promise<Omit<StepResult, 'session_id'>> {
  const changes = { url_changed: false, title_changed: false, tabs_opened: [], ...difference(null, undefined) }
  return { ...(await runBatch(target, request, tools, signal)), changes }
}

const wishesForControls = observationWishes.parse({ include: [] })

async function placeOf(target: BatchTarget): Promise<Place> {
  const page = target.pages.at(-1)
  if (!page) return { url: 'about:blank', title: '' }
  const title = await inTime(page.title(), titleMs, 'no title').catch(() => '')
  return { url: shownUrl(page.url()), title }
}

function close(target: BatchTarget, trail: Trail, after: Place): void {
  trail.after = after
  trail.events = target.events.since(trail.seq).filter(matters).map(({ type, data }) => ({ type, data })) // prettier-ignore
}

const shown = (trail: Trail | undefined) =>
  trail ? { before: trail.before, after: trail.after ?? trail.before, events: trail.events ?? [] } : {}

/** Dialogs, downloads, file choosers, tabs, errors of the page and failed requests. */
function matters({ type, data }: SessionEvent): boolean {
  if (type === 'console') return data['level'] === 'error'
  return /^(?:dialog|download|file_chooser|tab)\./.test(type) || type === 'page.error' || type === 'network.failed'
}

interface Look {
  readonly observed?: Observed
  readonly screenshot?: string
  readonly warning?: string
}

/** The commands have been run: a page that crashes afterwards is no failure of theirs. */
function pageCrash(error: unknown): string {
  if (error instanceof BaxError && error.code === 'page_crashed') return error.message
  throw error
}

/** The observation afterwards; the commands have been run, so a page that cannot be looked at is no failure of theirs. */
async function lookAgain(target: BatchTarget, request: StepRequest, signal: AbortSignal): Promise<Look> {
  try {
    if (request.observe) return { observed: await observe(target, request.observe, signal) }
    if (!request.screenshot) return {}
    const { observation } = await observe(target, { ...wishesForControls, include: ['screenshot'] }, signal)
    return { screenshot: observation.screenshot! }
  } catch (error) {
    if (error instanceof BaxError) return { warning: `the page could not be observed: ${error.message}` }
    throw error
  }
}

function difference(before: Observed | null, after: Observed | undefined) {
  if (!before || !after) return { elements_added: null, elements_removed: null }
  return {
    elements_added: missing(after.controls, before.controls),
    elements_removed: missing(before.controls, after.controls),
  }
}

const missing = (here: ReadonlySet<string>, there: ReadonlySet<string>): number =>
  [...here].filter((ref) => !there.has(ref)).length
