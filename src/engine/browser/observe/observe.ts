/** Observations: the content and controls of a page at one moment. */
import type { Locator, Page } from 'playwright'
import type { CallLimit } from '../../../core/operation/command.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits/limits.ts'
import {
  type Observation,
  type ObservationOptions,
  observationOptions,
  type ObservedElement,
  type ObserveRequest,
} from '../../../core/shapes/observe.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { callLimit } from '../elements/act.ts'
import { explain, noMatch } from '../elements/explain.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { unlessCrashed } from '../tabs/crash.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { failureOf } from '../page/playwright-errors.ts'
import { locateAll, parseSelector, selectorFault } from '../elements/selectors.ts'
import { tabsOf } from '../tabs/tab-control.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import { isControl, labelOf, type NodeWithRef, nodesWithRef } from './snapshot/aria.ts'
import { type Capture, capture, type NamedElements } from './snapshot/capture.ts'
import { changesBetween, type Compared } from './changes.ts'
import type { Notice } from './compare.ts'
import { editorEntry } from './snapshot/entries.ts'
import { type Cut, cutLines, cutText, linesOf, withoutOutside } from './snapshot/lines.ts'
import { hiddenTexts } from './snapshot/hidden-text.ts'
import { consolePart, dialogsPart, networkPart, noticesPart, storagePart } from './parts.ts'
import { outline } from './snapshot/outline.ts'
import { pageView } from './snapshot/page-view.ts'
import { sharedLine, withoutShared } from './shared.ts'
import { lastSeen, remember, type Seen, seenOf } from './last-observation.ts'
import { squeeze } from '../../../core/text/pieces.ts'

export interface Observed {
  readonly observation: Observation
  readonly seen: Seen
  /** Set when a comparison was requested and possible. */
  readonly compared?: Compared
}

/** Baseline to compare an observation with. */
export interface Comparison {
  /** Undefined when there is none: then the observation is of the whole page, and says so. */
  readonly before: Seen | undefined
  /** Messages recorded since then. */
  readonly alerts: readonly Notice[]
  /** Whether a new page is limited to its most relevant lines. */
  readonly brief?: boolean | undefined
}

/**
 * Observes the active tab. With a comparison, the observation has the changes instead of the page if possible.
 * @throws BaxError `element_not_found`, `stale_ref` or `invalid_selector`, or `timeout` for a page that hangs.
 */
export async function observe(
  target: BatchTarget,
  options: ObservationOptions,
  signal: AbortSignal,
  comparison?: Comparison,
): Promise<Observed> {
  const deadline = { ms: limits.observe.timeoutMs, error: unanswered }
  const run = async () => {
    const page = await target.page()
    target.dialogs.checkOpen(page, 'the observation')
    const work = () => unlessCrashed(page, () => observePage(page, { target, options, signal, comparison }))
    return target.dialogs.unlessBlocked(page, 'the observation', work)
  }
  for (let retry = true; ; retry = false) {
    try {
      const observed = await withDeadline(run(), deadline)
      if (comparison || options.include.includes('snapshot') || options.include.includes('elements'))
        remember(target, observed.seen)
      const secrets = secretsOf(target.browserContext)
      return { ...observed, observation: secrets.hideInObservation(observed.observation) }
    } catch (thrown) {
      signal.throwIfAborted()
      const error = await failureOf(thrown, 'observe', target)
      // When the tab closes meanwhile, observe the tab before it; when it navigates, the next page.
      if (!['target_closed', 'navigation_aborted'].includes(error.code) || !retry)
        throw secretsOf(target.browserContext).hideInError(error)
    }
  }
}

/** Chromium does not answer for a page while it waits for the server of the next one. */
const unanswered =
  'the page did not answer: a script keeps it busy, it has too many elements, or the page that it opens does not arrive'

/** `POST /observe`. */
export async function observeSession(
  target: BatchTarget,
  request: ObserveRequest,
  signal: AbortSignal,
): Promise<Observation> {
  const comparison = request.diff ? { before: lastSeen(target), alerts: [] } : undefined
  const { observation } = await observe(target, request, signal, comparison)
  target.replay?.observed(observation)
  return observation
}

interface ObserveContext {
  readonly target: BatchTarget
  readonly options: ObservationOptions
  readonly signal: AbortSignal
  readonly comparison: Comparison | undefined
}

async function observePage(page: Page, { target, options, signal, comparison }: ObserveContext): Promise<Observed> {
  const limit = callLimit(limits.observe.timeoutMs, signal)
  await untilParsed(page)
  const root = options.selector === undefined ? undefined : await rootOf(page, options.selector)
  const { lastSeq: seq } = target.events
  // Comparisons include the text.
  const everything = !options.interactive_only || comparison !== undefined
  const captured = await capture(page, { root, everything, limit })
  const facts = { part: options.selector, url: shownUrl(page.url()), seq }
  const context = { target, page, options, captured, limit, root }
  let compared: Compared | undefined
  if (comparison?.before) {
    const { before, alerts } = comparison
    const refs = controlsOf(captured)
    const { numbers } = await captured.name(refs, [])
    const controls = new Set(refs.flatMap((ref) => numbers.get(ref) ?? []))
    const seen = seenOf(target, captured, { ...facts, controls, numbers })
    compared = changesBetween(target, before, seen, alerts, options.max_chars)
    if (!compared.full)
      return { observation: { ...(await partsOf(context)), changes: compared.changes }, seen, compared }
  }
  const isNew = compared?.full === 'new_page' || compared?.full === 'mostly_new'
  const described = await describe(captured, options, comparison?.brief && isNew ? comparison.before : undefined)
  const parts = await partsOf(context, described)
  const full = comparison && (compared?.full ?? 'no_earlier_observation')
  return {
    observation: { ...parts, ...(full && { full }) },
    seen: seenOf(target, captured, { ...facts, controls: described.controls, numbers: described.numbers }),
    ...(compared && { compared }),
  }
}

/** Waits for a document that is still being parsed, for example after a click on a link, but not for a slow one. */
async function untilParsed(page: Page): Promise<void> {
  try {
    await page.waitForLoadState('domcontentloaded', { timeout: limits.observe.parseMs })
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
  }
}

interface PartsContext extends Pick<ObserveContext, 'target' | 'options'> {
  readonly page: Page
  readonly captured: Capture
  readonly limit: CallLimit
  readonly root: Locator | undefined
}

/** Builds the observation with the requested parts; `described` is missing when changes are reported instead. */
async function partsOf(context: PartsContext, described?: Described): Promise<Observation> {
  const { target, page, options, captured, limit, root } = context
  const parts = new Set<string>(options.include)
  const text = parts.has('text') ? cutText(await textOf(page, root, limit), options.max_chars) : undefined
  const takeScreenshot = () => page.screenshot({ type: 'png', fullPage: options.full_page, ...limit })
  const events = target.events.since(0)
  const omitted = { ...described?.omitted, ...(text?.omittedChars && { characters: text.omittedChars }) }
  return {
    success: true,
    session_id: target.sessionId,
    observation_id: newId('obs'),
    captured_at: new Date().toISOString(),
    url: shownUrl(page.url()),
    ...captured.facts,
    ...(described && parts.has('tabs') && { tabs: await tabsOf(target, page, captured.facts.title) }),
    ...(described && parts.has('snapshot') && { snapshot: described.snapshot }),
    ...(described && parts.has('elements') && { elements: described.elements }),
    ...(parts.has('screenshot') && { screenshot: (await takeScreenshot()).toString('base64') }),
    ...(text && { text: text.text }),
    ...(parts.has('console') && { console: consolePart(events) }),
    ...(parts.has('network') && { network: networkPart(events) }),
    ...(parts.has('storage') && { storage: await storagePart(page) }),
    dialogs: dialogsPart(events, tabIdOf(page)),
    ...noticesPart(hiddenTexts(captured.tree).length, captured.tools),
    truncated: Object.keys(omitted).some((kind) => kind !== 'options' && kind !== 'outside'),
    omitted,
  }
}

/** Returns the element that an observation is limited to. @throws BaxError when there is none. */
export async function rootOf(page: Page, selector: string): Promise<Locator> {
  const parsed = parseSelector(selector)
  const all = locateAll(page, parsed)
  const count = await all.count().catch(async (error: unknown) => {
    throw selectorFault(error, selector) ? await explain(error, { page, selector, timeoutMs: 0 }) : error
  })
  if (count > 0) return all.first()
  throw await noMatch(page, selector)
}

type Described = Awaited<ReturnType<typeof describe>>

/** Describes a page; briefly, and without lines of an earlier one, if that is given. */
async function describe(captured: Capture, options: ObservationOptions, earlier?: Seen) {
  const { tree, marks } = captured
  const { interactive_only: onlyControls, limit, include } = options
  const maxChars = earlier ? Math.min(options.max_chars, limits.observe.briefChars) : options.max_chars
  const nodes = [...nodesWithRef(tree)].filter(({ ref }) => marks.has(ref))
  const isListed = (node: NodeWithRef) =>
    isControl(node, marks) || (!onlyControls && node.role !== 'generic' && !marks.get(node.ref)!.decoy)
  const listed = include.includes('elements') ? nodes.filter(isListed) : []
  const chosen = nearestFirst(listed, captured, limit)
  const frames = chosen.flatMap(({ ref }) => marks.get(ref)!.frames)
  const whole = onlyControls ? outline(tree, marks) : pageView(tree, marks)
  const unshared = earlier?.view && withoutShared(whole, earlier.view())
  const all = linesOf(unshared?.entries ?? whole, marks)
  const { lines, omitted: outside } = options.selector === undefined ? withoutOutside(all) : { lines: all, omitted: {} }
  const everyControl = controlsOf(captured)
  const shown = [...lines.flatMap(({ ref }) => ref ?? []), ...listed.map(({ ref }) => ref), ...frames]
  const refs = new Set([...shown, ...everyControl])
  const named = await captured.name([...refs], [...chosen.map(({ ref }) => ref), ...frames])
  const shared = unshared && sharedLine(unshared, named.numbers)
  const cut: Cut = include.includes('snapshot')
    ? cutLines(lines, named.numbers, maxChars, outside)
    : { text: '', omitted: {} }
  const hidden = lines.reduce((sum, { hiddenOptions = 0 }) => sum + hiddenOptions, cut.omitted.options ?? 0)
  const elements = listed.length - chosen.length
  const controls = (cut.omitted.controls ?? 0) + (shared?.rest ?? 0)
  return {
    snapshot: [cut.text, shared?.line].filter(Boolean).join('\n'),
    elements: chosen.flatMap((node) => elementOf(node, captured, named) ?? []),
    omitted: {
      ...cut.omitted,
      ...(controls > 0 && { controls }),
      ...(hidden > 0 && { options: hidden }),
      ...(elements > 0 && { elements }),
    },
    controls: new Set(everyControl.flatMap((ref) => named.numbers.get(ref) ?? [])),
    numbers: named.numbers,
  }
}

/** Returns all controls of a page with references, without changing what later comparisons compare with. */
export async function listControls(page: Page, signal: AbortSignal) {
  // References of an observation are for all of its elements: those given here must include the earlier ones.
  const options = observationOptions.parse({ include: ['snapshot', 'elements'], limit: limits.observe.maxElements })
  const limit = callLimit(limits.observe.timeoutMs, signal)
  const captured = await capture(page, { everything: true, limit })
  const { elements, controls } = await describe(captured, options)
  const { scroll, viewport } = captured.facts
  return { controls: elements.filter(({ ref }) => controls.has(ref)), scroll, viewport }
}

const controlsOf = ({ all, marks }: Capture): string[] =>
  [...nodesWithRef(all)].filter((node) => isControl(node, marks)).map(({ ref }) => ref)

/** Selects up to `limit` nodes in document order, preferring controls and those in view; inaccessible ones are last. */
function nearestFirst(nodes: readonly NodeWithRef[], { marks }: Capture, limit: number): NodeWithRef[] {
  const rank = (node: NodeWithRef): number => {
    const { away, modal, blocked } = marks.get(node.ref)!
    return (blocked ? 2e9 : modal ? -1 : away) + (isControl(node, marks) ? 0 : 1e9)
  }
  const kept = new Set(nodes.toSorted((a, b) => rank(a) - rank(b)).slice(0, limit))
  const isBlocked = ({ ref }: NodeWithRef) => Number(marks.get(ref)!.blocked)
  return nodes.filter((node) => kept.has(node)).toSorted((a, b) => isBlocked(a) - isBlocked(b))
}

function elementOf(
  node: NodeWithRef,
  { marks }: Capture,
  { numbers, facts }: NamedElements,
): ObservedElement | undefined {
  const ref = numbers.get(node.ref)
  const fact = facts.get(node.ref)
  // The element left the page after the snapshot.
  if (ref === undefined || fact === undefined) return undefined
  const { box, outer, away, frames, blocked, editor } = marks.get(node.ref)!
  const { role, name } = editor ? editorEntry(node, marks) : node
  const path = frames.map((frame) => `frame=${facts.get(frame)?.selector ?? 'iframe'} >> `).join('')
  return {
    ref,
    role,
    name: squeeze(name || (isControl(node, marks) && !editor ? labelOf(node) : '')),
    ...fact,
    selector: path + fact.selector,
    in_viewport: fact.visible && away === 0,
    ...(blocked && { inert: true as const }),
    box: outer ?? box,
  }
}

async function textOf(page: Page, root: Locator | undefined, limit: { timeout: number }): Promise<string> {
  if (root) return root.innerText(limit)
  // Scripts can add text beside the body.
  return page.evaluate(() => {
    const element: Element = document.documentElement
    return element instanceof HTMLElement ? element.innerText : (element.textContent ?? '')
  })
}
