/**
 * Runs in the page: remembers what the pointer pressed, as it was before the page reacted. Menus that open on a press move
 * the click to a common ancestor, such as the body, and lists that close on one never receive it.
 */
import { isElement } from '../elements/node-kinds.page.ts'
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import { fingerprintOf } from '../elements/fingerprint.page.ts'
import { afterEvent } from './after-event.page.ts'
import { aroundField, closest, exactNames, isMeaningful, selectorOf } from './selector-of.page.ts'
import { type Toggle, toggleOf } from './toggles.page.ts'

export interface Press {
  readonly down: PointerEvent
  /** The innermost element under the pointer. */
  readonly pressed: Element
  /** Element that the click is meant for. */
  readonly element: Element
  readonly selector: string
  readonly names: readonly string[]
  readonly fingerprint: Fingerprint
  readonly toggle: Toggle | undefined
  /** From the top left of a canvas, on which every place has its own meaning. */
  readonly position: { readonly x: number; readonly y: number } | undefined
}

/** Parts of open lists, which are clicked as a whole whatever they contain. */
const choices = '[role=option], [role=menuitem], [role=menuitemcheckbox], [role=menuitemradio]'
const clickable = `button, select, input, textarea, a, [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], ${choices}`
/** Elements that receive no click, or whose click the browser handles. */
const withoutClick = 'html, body, select, option, iframe, :disabled'
/** Distance within which a press is a click, in CSS pixels. */
const clickPixels = 8
/** Time within which a second press makes a double click. */
const doubleMs = 500

export class PressWatch {
  /** Elements that were not editable when they were pressed. */
  readonly #plain = new WeakSet<Element>()
  #press: Press | undefined
  #isClicked = false

  /** `onLost` is called for a press that the page has handled in a way that no click followed. */
  constructor(onLost: (press: Press) => void) {
    const listen = (type: string, listener: (event: PointerEvent) => void) =>
      addEventListener(type, (event) => event.isTrusted && listener(event as PointerEvent), {
        capture: true,
        passive: true,
      })
    listen('pointerdown', (event) => this.#onDown(event))
    listen('pointerup', (event) => this.#onUp(event, onLost))
    for (const type of ['click', 'auxclick', 'contextmenu']) listen(type, () => (this.#isClicked = true))
  }

  /** The press that the current click ends. */
  get last(): Press | undefined {
    return this.#press
  }

  /** Whether an element is an editor that a press has made editable, so that it has the focus only then. */
  hasMadeEditable(element: Element): boolean {
    if (!(element as HTMLElement).isContentEditable) return false
    const pressed = this.#press?.pressed
    return this.#plain.has(element) || (pressed !== undefined && element.contains(pressed) && this.#plain.has(pressed))
  }

  #onDown(down: PointerEvent): void {
    const [pressed] = down.composedPath()
    const before = this.#press
    this.#press = undefined
    this.#isClicked = false
    if (!isElement(pressed)) return
    if (!(pressed as HTMLElement).isContentEditable) this.#plain.add(pressed)
    const isSecond = before?.pressed === pressed && down.timeStamp - before.down.timeStamp < doubleMs
    const toggle = toggleOf(pressed)
    // The first click of a double click can have changed the name of the element.
    const own = { down, pressed, toggle, position: positionOf(pressed, down) }
    this.#press = isSecond ? { ...before, ...own } : { ...targetOf(pressed), ...own }
  }

  #onUp({ button, clientX, clientY, pointerType }: PointerEvent, onLost: (press: Press) => void): void {
    const press = this.#press
    if (!press || button !== 0 || pointerType !== 'mouse' || press.pressed.matches(withoutClick)) return
    if (Math.hypot(clientX - press.down.clientX, clientY - press.down.clientY) >= clickPixels) return
    // The click follows in the same task.
    afterEvent(() => {
      if (!this.#isClicked && this.#press === press) onLost(press)
    })
  }
}

/** Whether an element is an item of an open list or menu, or inside of one. */
export const isChoice = (element: Element): boolean => closest(element, choices) !== null

function positionOf(pressed: Element, { clientX, clientY }: PointerEvent): Press['position'] {
  if (pressed.localName !== 'canvas') return undefined
  const { left, top } = pressed.getBoundingClientRect()
  return { x: Math.round(clientX - left), y: Math.round(clientY - top) }
}

function targetOf(pressed: Element): Pick<Press, 'element' | 'selector' | 'names' | 'fingerprint'> {
  const choice = pressed.matches('button, a') ? null : closest(pressed, choices)
  const element = choice ?? closest(pressed, clickable) ?? pressed
  const own = selectorOf(element)
  const selector = isMeaningful(own) ? own : (aroundField(element) ?? own)
  return { element, selector, names: exactNames(element, selector), fingerprint: fingerprintOf(element) }
}
