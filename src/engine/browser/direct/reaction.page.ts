/**
 * What the page does in its listeners of an input. A change of attributes that starts no transition, timer or animation
 * frame is complete when they return: nothing moves afterwards.
 */
import { paint } from './paint.page.ts'

/** Frames and timers that this script has requested. */
let own = 0
/** Those that the page had requested before the input. */
let requestedBefore = 0
/** The latest event of the input, whose listeners may still run. */
let latest: Event | null = null

export function requestFrame(callback: () => void): void {
  own++
  requestAnimationFrame(callback)
}

export function startTimer(callback: () => void, ms: number): ReturnType<typeof setTimeout> {
  own++
  return setTimeout(callback, ms)
}

/** Returns the number of frames and timers that the page has requested: all worlds share their IDs. */
function requestedByPage(): number {
  own += 2
  const frame = requestAnimationFrame(() => {})
  cancelAnimationFrame(frame)
  const timer = setTimeout(() => {})
  clearTimeout(timer)
  return frame + Number(timer) - own
}

/** Called before an input is sent. */
export function expectInput(): void {
  latest = null
  requestedBefore = requestedByPage()
}

export function onInputEvent(event: Event): void {
  latest = event
}

/** Attributes that scripts set once, rather than in each frame, to move elements. */
const setOnce =
  /^(?:class|id|role|title|value|name|href|alt|hidden|open|disabled|checked|selected|readonly|required|inert|tabindex|placeholder|(?:aria|data)-.+)$/

/** Returns the elements whose attributes a listener of the input has changed; null for all other changes. */
export function changedByInput(records: readonly MutationRecord[]): Element[] | null {
  // Keeps no element that is gone.
  if (latest?.eventPhase === Event.NONE) latest = null
  const isChange = ({ type, attributeName }: MutationRecord) => type === 'attributes' && setOnce.test(attributeName!)
  return latest && records.every(isChange) ? records.map(({ target }) => target as Element) : null
}

/** Returns whether such changes may move an element later. */
export function mayMoveLater(changed: ReadonlySet<Element>, element: Element): boolean {
  if (requestedByPage() !== requestedBefore || [...changed].some(hasTransition)) return true
  for (let outer: Element | null = element; outer; outer = outer.parentElement) if (hasTransition(outer)) return true
  return false
}

/** Returns whether changes of the styles of an element can take time, other than those of its colors. */
function hasTransition(element: Element): boolean {
  const { animationName, transitionProperty, transitionDuration, transitionDelay } = getComputedStyle(element)
  if (animationName !== 'none') return true
  if (!/[1-9]/.test(transitionDuration + transitionDelay)) return false
  const names = transitionProperty
    .split(', ')
    .map((name) => name.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase()))
  return names.some((name) => name !== 'none' && !paint.test(name))
}
