/** Observations: what a page shows and offers at one moment. */
import type { Locator, Page } from 'playwright'
import { BaxError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { limits } from '../../../core/limits.ts'
import type { Observation, ObservationWishes, ObservedElement, ObservedTab } from '../../../core/shapes/observe.ts'
import { callLimit } from '../act.ts'
import type { BatchTarget } from '../batch-target.ts'
import { hasCrashed, unlessCrashed } from '../crash.ts'
import { inTime } from '../in-time.ts'
import { shownUrl } from '../page-events.ts'
import { failureOf } from '../playwright-errors.ts'
import { locateAll, parseSelector, selectorFault, staleRef } from '../selectors.ts'
import { tabIdOf } from '../tab-ids.ts'
import { type AriaNode, isControl, labelOf, nodesWithRef } from './aria.ts'
import { type Capture, capture, type NamedElements } from './capture.ts'
import { cutLines, cutText } from './lines.ts'
import { recentConsole, recentDialogs, recentNetwork } from './log-parts.ts'
import { outline, wholeTree } from './outline.ts'
import { storageOf } from './storage.ts'

/** How long a title may take: a page that hangs must not hold up what is known of the others. */
const titleMs = 250

/** The observation, and the controls of the whole page, for the comparison with another one. */
export interface Observed {
  readonly observation: Observation
  readonly controls: ReadonlySet<string>
}

/**
 * Looks at the active tab.
 * @throws BaxError `element_not_found`, `stale_ref` or `invalid_selector` for a selector, `timeout` for a page that hangs.
 */
export async function observe(target: BatchTarget, wishes: ObservationWishes, signal: AbortSignal): Promise<Observed> {
  const late = 'the page did not answer; a script keeps it busy'
  for (let again = true; ; again = false) {
    try {
      return await inTime(look(target, wishes, signal), limits.observe.timeoutMs, late)
    } catch (thrown) {
      signal.throwIfAborted()
      const error = await failureOf(thrown, 'observe', target)
      // A tab that closes while it is looked at leaves the one before it to look at.
      if (error.code !== 'target_closed' || !again) throw error
    }
  }
}

async function look(target: BatchTarget, wishes: ObservationWishes, signal: AbortSignal): Promise<Observed> {
  const page = await target.page()
  return unlessCrashed(page, () => lookAt(page, target, wishes, signal))
}

async function lookAt(
  page: Page,
  target: BatchTarget,
  wishes: ObservationWishes,
  signal: AbortSignal,
): Promise<Observed> {
  const limit = callLimit(limits.observe.timeoutMs, signal)
  const root = wishes.selector === undefined ? undefined : await rootOf(page, wishes.selector)
  const seen = await capture(page, { root, everything: !wishes.interactive_only, limit })
  const wants = new Set<string>(wishes.include)
  const described = await describe(seen, wishes, wants)
  const text = wants.has('text') ? cutText(await textOf(page, root, limit), wishes.max_chars) : undefined
  const events = target.events.since(0)
  const tabId = tabIdOf(page)
  const observation: Observation = {
    success: true,
    session_id: target.sessionId,
    observation_id: newId('obs'),
    captured_at: new Date().toISOString(),
    url: shownUrl(page.url()),
    ...seen.facts,
    ...(wants.has('tabs') && { tabs: await tabsOf(target, page) }),
    ...(wants.has('snapshot') && { snapshot: described.snapshot }),
    ...(wants.has('elements') && { elements: described.elements }),
    ...(wants.has('screenshot') && { screenshot: await pictureOf(page, wishes.full_page, limit) }),
    ...(text && { text: text.text }),
    ...(wants.has('console') && { console: recentConsole(events) }),
    ...(wants.has('network') && { network: recentNetwork(events) }),
    ...(wants.has('storage') && { storage: await storageOf(page) }),
    dialogs: recentDialogs(events, tabId),
    truncated: described.truncated || (text?.truncated ?? false),
  }
  return { observation, controls: described.controls }
}

async function rootOf(page: Page, selector: string): Promise<Locator> {
  const parsed = parseSelector(selector)
  const all = locateAll(page, parsed)
  const count = await all.count().catch((error: unknown) => {
    throw selectorFault(error, selector) ?? error
  })
  if (count > 0) return all.first()
  if (parsed.ref) throw staleRef(selector, parsed)
  throw new BaxError('element_not_found', `no element matches ${selector}`, { details: { selector, matched: 0 } })
}

interface Described {
  readonly snapshot: string
  readonly elements: ObservedElement[]
  readonly truncated: boolean
  readonly controls: ReadonlySet<string>
}

async function describe(seen: Capture, wishes: ObservationWishes, wants: ReadonlySet<string>): Promise<Described> {
  const { tree, marks } = seen
  const { interactive_only: onlyControls, limit, max_chars: maxChars } = wishes
  const nodes = [...nodesWithRef(tree)].filter(({ ref }) => marks.has(ref))
  const controls = nodes.filter((node) => isControl(node, marks))
  const listed = onlyControls ? controls : nodes.filter((node) => node.role !== 'generic' || controls.includes(node))
  const chosen = wants.has('elements') ? nearest(listed, seen, limit) : []
  const frames = chosen.flatMap(({ ref }) => marks.get(ref)!.frames)
  const lines = onlyControls ? outline(tree, marks) : wholeTree(tree, marks)
  const refs = new Set([...lines.flatMap(({ ref }) => ref ?? []), ...listed.map(({ ref }) => ref), ...frames])
  const everyControl = [...nodesWithRef(seen.all)].filter((node) => isControl(node, marks)).map(({ ref }) => ref)
  for (const ref of everyControl) refs.add(ref)
  const named = await seen.name([...refs], [...chosen.map(({ ref }) => ref), ...frames])
  const cut = wants.has('snapshot') ? cutLines(lines, named.numbers, maxChars) : { text: '', truncated: false }
  return {
    snapshot: cut.text,
    elements: chosen.flatMap((node) => elementOf(node, seen, named) ?? []),
    truncated: cut.truncated || (wants.has('elements') && chosen.length < listed.length),
    controls: new Set(everyControl.flatMap((ref) => named.numbers.get(ref) ?? [])),
  }
}

type Referred = AriaNode & { readonly ref: string }

/** The elements in view and nearest to it, in document order. */
function nearest(nodes: readonly Referred[], { marks }: Capture, limit: number): Referred[] {
  if (nodes.length <= limit) return [...nodes]
  const byDistance = nodes.toSorted((a, b) => distance(a, marks) - distance(b, marks)).slice(0, limit)
  const kept = new Set(byDistance)
  return nodes.filter((node) => kept.has(node))
}

const distance = ({ ref }: Referred, marks: Capture['marks']): number => {
  const { away, modal } = marks.get(ref)!
  return modal ? -1 : away
}

function elementOf(node: Referred, { marks }: Capture, { numbers, facts }: NamedElements): ObservedElement | undefined {
  const ref = numbers.get(node.ref)
  const fact = facts.get(node.ref)
  // It left the page between the snapshot and the question.
  if (ref === undefined || fact === undefined) return undefined
  const { box, away, frames } = marks.get(node.ref)!
  const path = frames.map((frame) => `frame=${facts.get(frame)?.selector ?? 'iframe'} >> `).join('')
  return {
    ref,
    role: node.role,
    name: labelOf(node).replaceAll(/\s+/g, ' ').trim(),
    ...fact,
    selector: path + fact.selector,
    in_viewport: fact.visible && away === 0,
    box,
  }
}

async function tabsOf(target: BatchTarget, active: Page): Promise<ObservedTab[]> {
  return Promise.all(
    target.pages.map(async (page) => ({
      tab_id: tabIdOf(page),
      url: shownUrl(page.url()),
      title: await inTime(page.title(), titleMs, 'no title').catch(() => ''),
      active: page === active,
      ...(hasCrashed(page) && { crashed: true as const }),
    })),
  )
}

async function textOf(page: Page, root: Locator | undefined, limit: { timeout: number }): Promise<string> {
  if (root) return root.innerText(limit)
  return page.evaluate(() => document.body?.innerText ?? document.documentElement.textContent ?? '')
}

async function pictureOf(page: Page, fullPage: boolean, limit: { timeout: number }): Promise<string> {
  const bytes = await page.screenshot({ type: 'png', fullPage, ...limit })
  return bytes.toString('base64')
}
