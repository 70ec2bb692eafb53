/** What a page does in its listeners of an input. */
import { beforeEach, expect, test, vi } from 'vitest'
import {
  changedByInput,
  expectInput,
  mayMoveLater,
  onInputEvent,
} from '../../../src/engine/browser/direct/reaction.page.ts'

/** IDs of frames and timers, which all scripts of a page share. */
let frames = 0
let timers = 0
const styles = new Map<Element, Partial<CSSStyleDeclaration>>()
const none = { animationName: 'none', transitionProperty: 'all', transitionDuration: '0s', transitionDelay: '0s' }

beforeEach(() => {
  vi.stubGlobal('Event', { NONE: 0 })
  vi.stubGlobal('requestAnimationFrame', () => ++frames)
  vi.stubGlobal('cancelAnimationFrame', () => {})
  vi.stubGlobal('setTimeout', () => ++timers)
  vi.stubGlobal('clearTimeout', () => {})
  vi.stubGlobal('getComputedStyle', (element: Element) => ({ ...none, ...styles.get(element) }))
  return () => vi.unstubAllGlobals()
})

const elementIn = (parentElement: Element | null) => ({ parentElement }) as Element
const parent = elementIn(null)
const button = elementIn(parent)
const attribute = (attributeName: string) =>
  ({ type: 'attributes', attributeName, target: button }) as unknown as MutationRecord

/** Reports an event of the input; a listener changes attributes during it. */
function changes(names: string[], eventPhase = 1) {
  expectInput()
  onInputEvent({ eventPhase } as Event)
  return changedByInput(names.map(attribute))
}

test('attributes that a listener sets once are changed by the input', () => {
  expect(changes(['class', 'aria-expanded', 'data-count'])).toEqual([button, button, button])
  expect(changes(['class', 'style'])).toBeNull()
  expect(changes(['class'], 0)).toBeNull()
  expect(changedByInput([attribute('class')])).toBeNull()
})

test('they move nothing later unless the page has requested a frame or a timer', () => {
  const changed = new Set(changes(['class']))
  expect(mayMoveLater(changed, button)).toBe(false)
  expect(mayMoveLater(changed, button)).toBe(false)
  frames++
  expect(mayMoveLater(changed, button)).toBe(true)
  expectInput()
  timers++
  expect(mayMoveLater(changed, button)).toBe(true)
})

test.each([
  [{ transitionDuration: '0.2s' }, true],
  [{ transitionDuration: '0.2s', transitionProperty: 'background-color, opacity' }, false],
  [{ transitionDuration: '0s, 1s', transitionProperty: 'color, left' }, true],
  [{ transitionDelay: '1s' }, true],
  [{ animationName: 'spin' }, true],
])('an ancestor with %j may move it: %s', (style, may) => {
  styles.set(parent, style)
  expect(mayMoveLater(new Set(changes(['class'])), button)).toBe(may)
  styles.clear()
})
