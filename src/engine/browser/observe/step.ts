/** Commands with their consequences: where the page was, what happened, what it looks like now. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import {
  type Observation,
  type ObservationWishes,
  observationWishes,
  type StepRequest,
  type StepResult,
} from '../../../core/shapes/observe.ts'
import type { FullReason, PageChanges } from '../../../core/shapes/page-changes.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { BatchTarget } from '../batch/batch-target.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { type BatchTools, runBatch } from '../batch/run-batch.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import { recordAlerts } from './alerts.ts'
import { changesBetween, unobserved } from './changes.ts'
import type { Notice } from './compare.ts'
import { observe } from './observe.ts'
import { lastSeen, type Seen } from './seen.ts'
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
  const earlier = request.diff ? lastSeen(target) : undefined
  // A crash before the first command is that command's to report.
  const isObservable = request.observe !== null && !target.crashed
  const looks = isObservable ? onlyPage(request.observe) : null
  const before = earlier ?? (looks && (await observe(target, looks, signal)).seen)
  const tabs = new Set(target.pages.map(tabIdOf))
  const start = await placeOf(target)
  const startSeq = target.events.lastSeq
  const trails = new Map<number, Trail>()
  const stopRecording = isObservable ? await recordAlerts(target) : undefined
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
  const alerts = (await stopRecording?.()) ?? []
  const outcome = await lookAgain(target, request, signal, { before, earlier, alerts })
  const changes = outcome.changes ?? unobserved(target, { tabs, seq: startSeq })
  const joined = [batch.warning, restless, outcome.warning].filter(Boolean).join('; ')
  return {
    ...batch,
    results: batch.results.map((result) => ({ ...result, ...shown(trails.get(result.index)) })),
    ...(outcome.observation && { observation: outcome.observation }),
    ...(outcome.screenshot !== undefined && { screenshot: outcome.screenshot }),
    changes: {
      ...changes,
      url_changed: start.url !== end.url,
      title_changed: start.title !== end.title,
      new_page: outcome.newPage ?? start.url !== end.url,
    },
    ...(outcome.full && { full: outcome.full }),
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
  const batch = await runBatch(target, request, tools, signal)
  const nothing = unobserved(target, { tabs: new Set(target.pages.map(tabIdOf)), seq: target.events.lastSeq })
  return { ...batch, changes: { ...nothing, url_changed: false, title_changed: false, new_page: false } }
}

const withoutParts = observationWishes.parse({ include: [] })

/** What is compared with the observation afterwards. */
const onlyPage = ({ selector }: ObservationWishes): ObservationWishes => ({
  ...withoutParts,
  ...(selector !== undefined && { selector }),
})

async function placeOf(target: BatchTarget): Promise<Place> {
  const page = target.pages.at(-1)
  if (!page) return { url: 'about:blank', title: '' }
  const title = await withDeadline(page.title(), { ms: titleMs }).catch(() => '')
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

interface Outcome {
  readonly observation?: Observation
  readonly screenshot?: string
  readonly changes?: PageChanges
  readonly newPage?: boolean
  readonly full?: FullReason
  readonly warning?: string
}

/** The commands have been run: a page that crashes afterwards is no failure of theirs. */
function pageCrash(error: unknown): string {
  if (error instanceof BaxError && error.code === 'page_crashed') return error.message
  throw error
}

interface Earlier {
  /** The page before the step; null when it was not observed. */
  readonly before: Seen | null
  /** The session's last observation, for a diff. */
  readonly earlier: Seen | undefined
  readonly alerts: readonly Notice[]
}

/** The observation afterwards; the commands have been run, so a page that cannot be looked at is no failure of theirs. */
async function lookAgain(
  target: BatchTarget,
  request: StepRequest,
  signal: AbortSignal,
  earlier: Earlier,
): Promise<Outcome> {
  try {
    if (request.observe) return await compareAgain(target, request, signal, earlier)
    if (!request.screenshot) return {}
    const { observation } = await observe(target, { ...withoutParts, include: ['screenshot'] }, signal)
    return { screenshot: observation.screenshot! }
  } catch (error) {
    if (error instanceof BaxError) return { warning: `the page could not be observed: ${error.message}` }
    throw error
  }
}

async function compareAgain(
  target: BatchTarget,
  { observe: wishes, diff }: StepRequest,
  signal: AbortSignal,
  { before, earlier, alerts }: Earlier,
): Promise<Outcome> {
  const observed = await observe(target, wishes!, signal, diff ? { before: earlier, alerts } : undefined)
  const { observation, seen } = observed
  // A page that had crashed before is compared with nothing.
  if (!before) return { observation, ...(observation.full && { full: observation.full }) }
  const compared = observed.compared ?? changesBetween(before, seen, { target, alerts, maxChars: wishes!.max_chars })
  const { changes } = compared
  const newPage = before.document !== seen.document
  if (!diff) return { observation, changes, newPage }
  if (observation.full) return { observation, changes, newPage, full: observation.full }
  const { screenshot, changes: _, ...parts } = observation
  const isWanted = wishes!.include.some((part) => otherParts.has(part))
  return {
    changes,
    newPage,
    ...(isWanted && { observation: parts }),
    ...(screenshot !== undefined && { screenshot }),
  }
}

/** Parts of an observation that changes do not stand in for. */
const otherParts: ReadonlySet<string> = new Set(['text', 'console', 'network', 'storage'])
