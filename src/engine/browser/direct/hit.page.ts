/** Position of a click in an element, and a guard that lets the input reach no other one. */
import type { Point } from '../../../core/operation/command.ts'
import { pressedBy, UnclearInPage } from './find.page.ts'
import { takeReaction } from '../input/input-watch.page.ts'
import { type Confirmation, type DirectRequest, type Verdict, verdictBinding, type WatchedInput } from './request.ts'

const watched: Readonly<Record<WatchedInput, ReadonlySet<string>>> = {
  press: new Set(['mousedown', 'mouseup', 'pointerdown', 'pointerup', 'click', 'auxclick', 'dblclick', 'contextmenu']),
  move: new Set(['mousemove']),
}

interface Armed {
  readonly id: number
  readonly element: Element
  readonly receiver: Element
  readonly types: ReadonlySet<string>
  readonly since: number
  verdict: Verdict | null
}

let armed: Armed | null = null
/** The last action, for its confirmation. */
let last: Armed | null = null

/** Listens before all listeners of the page when it is called at the start of the document. */
export function listen(): void {
  // Adding a listener again has no effect, except after `document.open`, which removes all.
  for (const type of [...watched.press, ...watched.move])
    addEventListener(type, onInput, { capture: true, passive: false })
}

/** The first event decides, like in Playwright: what the page does with it may move the element. */
function onInput(event: Event): void {
  if (!armed?.types.has(event.type) || !event.isTrusted) return
  if (armed.verdict === null) {
    armed.verdict = event.composedPath().includes(armed.receiver) ? 'hit' : 'missed'
    const report = (globalThis as { [verdictBinding]?: (payload: string) => void })[verdictBinding]
    report?.(`${armed.id} ${armed.verdict}`)
  }
  if (armed.verdict === 'hit') return
  event.preventDefault()
  event.stopImmediatePropagation()
}

/** Checks that input at the middle of an element reaches it, and watches for that input; returns the position. */
export function aim(element: Element, { id, input }: DirectRequest): Point {
  const point = middleOf(element)
  const receiver = pressedBy(element)
  const hit = document.elementFromPoint(point.x, point.y)
  // Input in a frame is not seen here.
  if (!hit || !receiver.contains(hit) || hit.matches('iframe, frame, object, embed, fencedframe, portal'))
    throw new UnclearInPage('covered')
  listen()
  armed = { id, element, receiver, types: watched[input!], since: performance.now(), verdict: null }
  last = armed
  return point
}

/** Ends the watch of an action. */
export function confirm(id: number): Confirmation {
  if (armed?.id === id) armed = null
  const of = last?.id === id ? last : null
  if (of) last = null
  const checked = of?.element instanceof HTMLInputElement && of.element.checked
  const reaction = of ? takeReaction() : null
  const elapsed = of ? performance.now() - of.since : 0
  const lost = (reaction?.lostAge ?? Infinity) <= elapsed
  const rejected = reaction?.rejected.flatMap(({ age, text }) => (age <= elapsed ? [text] : [])) ?? []
  return { verdict: of?.verdict ?? null, lost, rejected, connected: of?.element.isConnected ?? false, checked }
}

/** Returns the middle of the first box of an element, which must be in view: Playwright scrolls to others. */
function middleOf(element: Element): Point {
  if (visualViewport && visualViewport.scale !== 1) throw new UnclearInPage('zoomed')
  const around = element.getBoundingClientRect()
  if (!isInside(around, { left: 0, top: 0, right: innerWidth, bottom: innerHeight }))
    throw new UnclearInPage('out of view')
  for (let outer = element.parentElement; outer; outer = outer.parentElement) {
    if (outer === document.body || outer === document.documentElement) break
    const { overflowX, overflowY } = getComputedStyle(outer)
    const clips = overflowX !== 'visible' || overflowY !== 'visible'
    if (clips && !isInside(around, outer.getBoundingClientRect())) throw new UnclearInPage('clipped')
  }
  const box = [...element.getClientRects()].find(({ width, height }) => width * height > 0.99)
  if (!box) throw new UnclearInPage('no box')
  if (isDivided(element, box)) throw new UnclearInPage('several parts')
  return { x: rounded(box.x + box.width / 2), y: rounded(box.y + box.height / 2) }
}

/**
 * Returns whether the first part of an inline element, which Playwright clicks, is not its first box: a checkbox before
 * the text of its label, or an image in a link.
 */
function isDivided(element: Element, { x, y, width, height }: DOMRect): boolean {
  if (getComputedStyle(element).display !== 'inline') return false
  // The parts of a component may be hidden from scripts.
  if (element.shadowRoot || element.localName.includes('-')) return true
  if (element.childElementCount === 0) return false
  const range = document.createRange()
  for (const child of element.childNodes) {
    range.selectNode(child)
    const first = [...range.getClientRects()].find((box) => box.width * box.height > 0.99)
    if (!first) continue
    const isSame =
      Math.abs(first.x + first.width / 2 - x - width / 2) < 1 &&
      Math.abs(first.y + first.height / 2 - y - height / 2) < 1
    return !isSame || (child instanceof Element && isDivided(child, first))
  }
  return false
}

const rounded = (value: number): number => Math.trunc(value * 100) / 100

type Edges = Pick<DOMRect, 'left' | 'top' | 'right' | 'bottom'>

const isInside = (box: Edges, outer: Edges): boolean =>
  box.left >= outer.left && box.top >= outer.top && box.right <= outer.right && box.bottom <= outer.bottom
