/** Steps: commands with their effects on the page. */
import { catalogue } from '../../../commands/index.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import type { CommandCall } from '../../../core/shapes/commands.ts'
import { observationOptions, type StepRequest, type StepResult } from '../../../core/shapes/observe.ts'
import type { PageChanges } from '../../../core/shapes/page-changes.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { titleOf } from '../page/internals.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { type BatchTools, runBatch } from './run-batch.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import { recordAlerts } from '../observe/alerts.ts'
import { changesBetween, changesWithoutObservation } from '../observe/changes.ts'
import type { Notice } from '../observe/compare.ts'
import { observe } from '../observe/observe.ts'
import { lastSeen, type Seen } from '../observe/last-observation.ts'
import { waitUntilStable } from '../observe/wait-until-stable.ts'

type PageState = { url: string; title: string }
type StepEvent = { type: string; data: Record<string, unknown> }

/** Effects of one command: the page before and after it, and its events. */
interface Effect {
  readonly before: PageState
  /** Number of the last event before it. */
  readonly seq: number
  after: PageState
  events: StepEvent[]
}

const titleMs = 500

/** Runs the commands of a step and observes the page. */
export async function runStep(
  target: BatchTarget,
  request: StepRequest,
  tools: BatchTools,
  signal: AbortSignal,
): Promise<Omit<StepResult, 'session_id'>> {
  const earlier = request.diff ? lastSeen(target) : undefined
  // The first command reports a crash that happened before it, or answers an open dialog.
  const isObservable = request.observe !== null && !target.crashed && !target.dialogs.answerable
  // The observation before the step is only the baseline of the comparison.
  const baseline = isObservable ? { ...withoutParts, selector: request.observe.selector } : null
  const before = earlier ?? (baseline && (await observe(target, baseline, signal)).seen)
  const tabs = new Set(target.pages.map(tabIdOf))
  const start = await pageStateOf(target)
  const startSeq = target.events.lastSeq
  const effects = new Map<number, Effect>()
  const stopRecording = isObservable ? await recordAlerts(target) : undefined
  const batch = await runBatch(target, request, tools, signal, {
    before: async (index) => {
      const before = await pageStateOf(target)
      effects.set(index, { before, seq: target.events.lastSeq, after: before, events: [] })
    },
    after: async (index) => finish(target, effects.get(index)!, await pageStateOf(target, effects.get(index)!.before)),
  })
  const settleMs = request.commands.some(mayChangePage) ? request.settle_ms : 0
  const crash = await waitUntilStable(target, startSeq, settleMs, signal).catch(pageCrash)
  const end = await pageStateOf(target, start)
  const last = [...effects.values()].at(-1)
  // Include effects that follow the last action with a delay.
  if (last) finish(target, last, end)
  const alerts = (await stopRecording?.()) ?? []
  const outcome = await observeAfter(target, request, signal, { before, earlier, alerts })
  const changes = outcome.changes ?? changesWithoutObservation(target, { tabs, seq: startSeq })
  const hide = <T>(value: T) => secretsOf(target.browserContext).hide(value)
  const warning = [batch.warning, crash, outcome.warning].filter(Boolean).join('; ')
  if (request.observe) target.replay?.observed({ changes: outcome.changes, ...outcome.observation })
  return {
    ...batch,
    results: batch.results.map((result) => {
      const { seq: _, ...effect } = effects.get(result.index) ?? {}
      return { ...result, ...hide(effect) }
    }),
    ...(outcome.observation && { observation: outcome.observation }),
    ...(outcome.screenshot !== undefined && { screenshot: outcome.screenshot }),
    changes: {
      ...hide(changes),
      url_changed: start.url !== end.url,
      title_changed: start.title !== end.title,
      new_page: outcome.newPage ?? start.url !== end.url,
    },
    ...(outcome.full && { full: outcome.full }),
    ...(warning && { warning }),
  }
}

/** Returns whether a command may change the page: most extractions only read. */
function mayChangePage({ command }: CommandCall): boolean {
  const { kind, runsCode } = catalogue.get(command) ?? {}
  return kind !== 'extraction' || runsCode === true
}

/** Builds the response of a step that did not run since `signal` is aborted; does not touch the page. */
export async function refuseStep(
  target: BatchTarget,
  request: StepRequest,
  tools: BatchTools,
  signal: AbortSignal,
): Promise<Omit<StepResult, 'session_id'>> {
  const batch = await runBatch(target, request, tools, signal)
  const nothing = changesWithoutObservation(target, {
    tabs: new Set(target.pages.map(tabIdOf)),
    seq: target.events.lastSeq,
  })
  return { ...batch, changes: { ...nothing, url_changed: false, title_changed: false, new_page: false } }
}

const withoutParts = observationOptions.parse({ include: [] })

/** Reads URL and title; a page that does not respond, for example because of a dialog, keeps the title that it had. */
async function pageStateOf(target: BatchTarget, earlier?: PageState): Promise<PageState> {
  const page = target.activePage
  if (!page) return { url: 'about:blank', title: '' }
  const url = shownUrl(page.url())
  const known = earlier?.url === url ? earlier.title : ''
  const title = await withDeadline(titleOf(page), { ms: titleMs }).catch(() => known)
  return { url, title: title === '' && target.dialogs.answerable ? known : title }
}

function finish(target: BatchTarget, effect: Effect, after: PageState): void {
  effect.after = after
  effect.events = target.events
    .since(effect.seq)
    .filter(isReported)
    .map(({ type, data }) => ({ type, data }))
}

/** Returns whether an event is reported: dialogs, downloads, file choosers, tabs, page errors and failed requests. */
function isReported({ type, data }: SessionEvent): boolean {
  if (type === 'console') return data['level'] === 'error'
  return /^(?:dialog|download|file_chooser|tab)\./.test(type) || type === 'page.error' || type === 'network.failed'
}

interface Outcome extends Pick<StepResult, 'observation' | 'screenshot' | 'full' | 'warning'> {
  readonly changes?: PageChanges
  readonly newPage?: boolean
}

/** Converts a crash after the commands to a warning, since the commands have succeeded. */
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

/** Observes the page after the commands; a failure is a warning, since the commands have been run. */
async function observeAfter(
  target: BatchTarget,
  request: StepRequest,
  signal: AbortSignal,
  earlier: Earlier,
): Promise<Outcome> {
  try {
    if (request.observe) return await compareAfter(target, request, signal, earlier)
    if (!request.screenshot) return {}
    const { observation } = await observe(target, { ...withoutParts, include: ['screenshot'] }, signal)
    return { screenshot: observation.screenshot! }
  } catch (error) {
    if (error instanceof BaxError) return { warning: `the page could not be observed: ${error.message}` }
    throw error
  }
}

async function compareAfter(
  target: BatchTarget,
  { observe: options, diff, brief }: StepRequest,
  signal: AbortSignal,
  { before, earlier, alerts }: Earlier,
): Promise<Outcome> {
  const comparison = diff ? { before: earlier, alerts, brief } : undefined
  const observed = await observe(target, options!, signal, comparison)
  const { observation, seen } = observed
  // After an earlier crash there is no baseline.
  if (!before) return { observation, ...(observation.full && { full: observation.full }) }
  const compared = observed.compared ?? changesBetween(target, before, seen, alerts, options!.max_chars)
  const { changes } = compared
  const newPage = before.document !== seen.document
  if (!diff) return { observation, changes, newPage }
  if (observation.full) return { observation, changes, newPage, full: observation.full }
  const { screenshot, changes: _, ...parts } = observation
  const isWanted = options!.include.some((part) => otherParts.has(part))
  return {
    changes,
    newPage,
    ...(isWanted && { observation: parts }),
    ...(screenshot !== undefined && { screenshot }),
  }
}

/** Parts of an observation that changes do not replace. */
const otherParts: ReadonlySet<string> = new Set(['text', 'console', 'network', 'storage'])
