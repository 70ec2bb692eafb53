/** Runs in the page: detects drags, those of HTML5 and those that the page implements with pointer events. */
import { isElement } from '../../elements/node-kinds.page.ts'
import type { Fingerprint } from '../../../../core/shapes/recording.ts'
import { fingerprintOf } from '../../elements/fingerprint.page.ts'
import { afterEvent } from '../after-event.page.ts'
import { type DropPlace, DropTarget } from './drop-target.page.ts'
import type { FileDropWatch } from './file-drops.page.ts'
import { dropFromFrame, endAcrossFrames, startAcrossFrames } from './frame-drags.page.ts'
import { selectorOf } from '../selector-of.page.ts'

export interface DragFacts extends DropPlace {
  /** Set when the target is in another frame, and its selector starts at the top one. */
  readonly isElsewhere?: true
  readonly at: number
  readonly selector: string
  readonly fingerprint: Fingerprint
}

/** An element that is pressed or dragged. */
interface Held {
  readonly element: Element
  readonly down: MouseEvent
  readonly target: DropTarget
  /** Set when it has moved far enough for a drag. */
  facts?: Pick<DragFacts, 'at' | 'selector' | 'fingerprint'>
  /** Stops observing the document, and returns whether it has changed. */
  changed?: () => boolean
}

/** Movement of a pressed pointer that is no click. */
const dragPixels = 8
const fields = 'input, textarea, select, option'

export class DragWatch {
  readonly #report: (drag: DragFacts) => void
  readonly #reportLost: (what: string) => void
  readonly #files: FileDropWatch
  #held: Held | undefined
  #isNative = false
  #endsDrag = false

  constructor(report: (drag: DragFacts) => void, reportLost: (what: string) => void, files: FileDropWatch) {
    this.#report = report
    this.#reportLost = reportLost
    this.#files = files
    const listeners: Record<string, (event: PointerEvent & DragEvent) => void> = {
      pointerdown: (event) => this.#press(event),
      pointermove: (event) => this.#move(event),
      pointerup: (event) => this.#release(event),
      pointercancel: () => this.#isNative || this.#forget(),
      dragstart: (event) => this.#start(event),
      dragover: (event) => this.#held?.target.over(event.composedPath()[0], event),
      drop: (event) => this.#drop(event),
      dragend: (event) => this.#end(event),
    }
    for (const [type, listener] of Object.entries(listeners)) {
      const onEvent = (event: Event) => event.isTrusted && listener(event as PointerEvent & DragEvent)
      addEventListener(type, onEvent, { capture: true, passive: true })
    }
  }

  /** Whether the click that the page receives now ends a drag. */
  get endsDrag(): boolean {
    return this.#endsDrag
  }

  #press(event: PointerEvent): void {
    this.#forget()
    const [element] = event.composedPath()
    if (event.button !== 0 || !isElement(element) || isOnScrollbar(element, event)) return
    this.#held = { element, down: event, target: new DropTarget(element, event) }
  }

  #move(event: PointerEvent): void {
    const held = this.#held
    if (!held || this.#isNative) return
    if (!held.facts) {
      if (Math.hypot(event.clientX - held.down.clientX, event.clientY - held.down.clientY) < dragPixels) return
      held.facts = factsOf(held.element)
      held.changed = watchChanges()
    }
    held.target.overPoint(event)
  }

  #release(event: PointerEvent): void {
    const held = this.#held
    const { facts, changed, target } = held ?? {}
    this.#held = undefined
    target?.end()
    if (!held || !facts || !changed || !target) return
    const place = target.place(event)
    this.#endsDrag = isPointerDrag(held, event)
    if (!this.#endsDrag) return void changed()
    // The page may react only now. Without any change, nothing was dragged.
    afterEvent(() => {
      this.#endsDrag = false
      if (changed() || held.element.localName === 'canvas') this.#report({ ...facts, ...place })
    })
  }

  #start(event: DragEvent): void {
    const [element] = event.composedPath()
    this.#forget()
    if (!isElement(element)) return
    this.#isNative = true
    this.#held = { element, down: event, target: new DropTarget(element, event), facts: factsOf(element) }
    startAcrossFrames()
  }

  #drop(event: DragEvent): void {
    const { facts, target } = this.#held ?? {}
    this.#forget()
    if (facts && target) this.#report({ ...facts, ...target.place(event) })
    else if (!dropFromFrame(event) && !this.#files.drop(event))
      this.#reportLost('a drop of something from outside of the page or frame')
  }

  #end(event: DragEvent): void {
    const { facts } = this.#held ?? {}
    this.#forget()
    const isAccepted = event.dataTransfer?.dropEffect !== 'none'
    // A drop in this frame has been reported.
    if (!facts || !isAccepted) return endAcrossFrames(() => {})
    endAcrossFrames((place) => {
      if (place) this.#report({ ...facts, ...place, isElsewhere: true })
      else this.#reportLost('a drag into another frame or window')
    })
  }

  #forget(): void {
    this.#held?.changed?.()
    this.#held?.target.end()
    this.#held = undefined
    this.#isNative = false
  }
}

const factsOf = (element: Element) => ({
  at: Date.now(),
  selector: selectorOf(element),
  fingerprint: fingerprintOf(element),
})

function watchChanges(): () => boolean {
  let hasChanged = false
  const observer = new MutationObserver(() => (hasChanged = true))
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  return () => {
    hasChanged ||= observer.takeRecords().length > 0
    observer.disconnect()
    return hasChanged
  }
}

function isOnScrollbar(element: Element, { clientX, clientY }: PointerEvent): boolean {
  const { left, top } = element.getBoundingClientRect()
  const { clientLeft, clientTop, clientWidth, clientHeight } = element
  if (clientWidth === 0 || clientHeight === 0) return false
  return clientX > left + clientLeft + clientWidth + 1 || clientY > top + clientTop + clientHeight + 1
}

/** Whether a moved pointer has dragged something, instead of selecting text or clicking inaccurately. */
function isPointerDrag({ element, down, target }: Held, { clientX: x, clientY: y }: PointerEvent): boolean {
  if (element.matches(fields) || (element as HTMLElement).isContentEditable) return false
  if (target.moves) return true
  const tracksPointer =
    element.matches('canvas, [role=slider]') ||
    down.defaultPrevented ||
    getComputedStyle(element).touchAction === 'none'
  const { left, right, top, bottom } = element.getBoundingClientRect()
  const isInside = x >= left && x <= right && y >= top && y <= bottom
  return isInside ? tracksPointer : tracksPointer || getSelection()?.type !== 'Range'
}
