/** Waits until a page is stable after an action. */
import type { Page } from 'playwright'
import { setTimeout as after } from 'node:timers/promises'
import type { EventLog, SessionEvent } from '../../../core/events/events.ts'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { lastingTypes } from '../network/request-log.ts'
import type { BatchTarget } from '../ports/batch-target.ts'

/** Time without a change after which a document counts as stable, in milliseconds. */
interface Quiet {
  /** After an action that has not changed it. */
  readonly unchangedMs: number
  /** After a change. */
  readonly quietMs: number
}

/** Waits until the document is stable and the requests and downloads since event `since` are done, at most `maxMs`. */
export async function waitUntilStable(
  target: BatchTarget,
  since: number,
  maxMs: number,
  signal: AbortSignal,
  { unchangedMs, quietMs }: Quiet = limits.observe,
): Promise<void> {
  if (maxMs === 0) return
  const started = performance.now()
  const over = AbortSignal.any([signal, AbortSignal.timeout(maxMs)])
  while (!over.aborted && !target.ended.aborted) {
    const seq = target.events.lastSeq
    const isChanged = target.events.since(since).some(isActivity)
    const firstMs = isChanged ? quietMs : Math.max(0, unchangedMs - (performance.now() - started))
    // Rejects only when it is over.
    await withDeadline(untilQuiet(await target.page(), { firstMs, quietMs, maxMs }), { signal: over }).catch(() => {})
    if (over.aborted) return
    const isIdle = pending(target.events.since(since)) === 0
    if (isIdle && !target.events.since(seq).some(isActivity)) return
    if (!isIdle) await nextResponse(target.events, over)
  }
}

const isActivity = ({ type }: SessionEvent): boolean =>
  type.startsWith('page.') || type === 'network.request' || type === 'tab.opened'

function pending(events: readonly SessionEvent[]): number {
  const open = new Set<unknown>()
  let downloads = 0
  for (const { type, data } of events) {
    if (type === 'network.request' && !lastingTypes.has(data['resource_type'])) open.add(data['request_id'])
    if (type === 'network.response' || type === 'network.failed') open.delete(data['request_id'])
    if (type === 'download.started') downloads += 1
    if (type === 'download.finished') downloads -= 1
  }
  return open.size + downloads
}

async function nextResponse(events: EventLog, signal: AbortSignal): Promise<void> {
  for await (const { type } of events.follow(events.lastSeq, signal)) {
    if (type === 'network.response' || type === 'network.failed' || type === 'download.finished') return
  }
}

/** Times in milliseconds: without a change, after a change, and for all. */
interface QuietTimes {
  readonly firstMs: number
  readonly quietMs: number
  readonly maxMs: number
}

/** Waits until the loaded document stops changing; returns after a short time when it is replaced meanwhile. */
function untilQuiet(page: Page, times: QuietTimes): Promise<void> {
  return page.evaluate(quiet, times).catch(() => after(times.quietMs))
}

type Root = Document | ShadowRoot

/** Runs in the page. Waits for its open shadow roots and frames of the same origin too. */
function quiet({ firstMs, quietMs, maxMs }: QuietTimes): Promise<void> {
  return new Promise((resolve) => {
    const end = performance.now() + maxMs
    let timer: ReturnType<typeof setTimeout>
    const mutations = new MutationObserver(() => wait(quietMs))
    const shifts = new PerformanceObserver(() => wait(quietMs))
    let roots: ReadonlySet<Root> = new Set()
    const list = (root: Root | null | undefined, found: Set<Root>): Set<Root> => {
      // Forms and custom elements can have any values in these properties.
      if (!root || (root.nodeType !== 9 && root.nodeType !== 11) || found.has(root)) return found
      found.add(root)
      for (const element of root.querySelectorAll('*')) {
        list(element.shadowRoot, found)
        list((element as HTMLIFrameElement).contentDocument, found)
      }
      return found
    }
    // Nothing reports that a shadow root was attached, or that a frame has another document.
    const observeNew = () => {
      const known = roots
      roots = list(document, new Set())
      const added = [...roots].filter((root) => !known.has(root))
      for (const root of added)
        mutations.observe(root, { subtree: true, childList: true, attributes: true, characterData: true })
      return added.length > 0
    }
    // Animations that repeat forever never end.
    const isMoving = (root: Root) =>
      root
        .getAnimations()
        .some(({ playState, effect }) => playState === 'running' && Number(effect?.getComputedTiming().endTime) < maxMs)
    const isBusy = () => observeNew() || document.readyState !== 'complete' || [...roots].some(isMoving)
    const wait = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (isBusy() && performance.now() < end) return wait(quietMs)
        mutations.disconnect()
        shifts.disconnect()
        resolve()
      }, ms)
    }
    observeNew()
    shifts.observe({ type: 'layout-shift' })
    wait(firstMs)
  })
}
