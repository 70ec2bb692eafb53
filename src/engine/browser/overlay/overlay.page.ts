/**
 * Runs in every frame of a page: draws marks for clicks and the pointer, and numbered boxes around elements. They are
 * in a closed shadow root in the top layer, which affects neither events nor layout.
 */
import type { BoundingBox } from '../../../core/shapes/commands.ts'
import { measureOne } from '../elements/measure.page.ts'

interface Drawn {
  readonly element: Element
  readonly frame: HTMLElement
}

interface Layer {
  readonly host: HTMLElement
  readonly root: ShadowRoot
  marks: HTMLElement[]
  pointer: HTMLElement | null
  stopClicks: (() => void) | null
  boxes: Drawn[]
}

const key = Symbol.for('bax.overlay')
const registry = globalThis as { [key]?: Layer | undefined }
const maxMarks = 10
const colours = ['#e6194b', '#0072b2', '#2e7d32', '#8e24aa', '#d35400', '#00838f']

/** Shows or hides marks at clicks and at the pointer. */
export function clicks(enabled: boolean): void {
  const layer = enabled ? open() : registry[key]
  if (!layer || enabled === (layer.stopClicks !== null)) return
  if (enabled) layer.stopClicks = followPointer(layer)
  else {
    layer.stopClicks?.()
    layer.stopClicks = null
    for (const mark of [...layer.marks, layer.pointer]) mark?.remove()
    layer.marks = []
    layer.pointer = null
    closeEmpty(layer)
  }
}

/** Replaces the boxes by boxes around `elements`, numbered from `from`. */
export function boxes(
  elements: Element[],
  options: { from: number; limit: number; includeHtml: boolean; visibleOnly: boolean },
): BoundingBox[] {
  clearBoxes()
  const shown = elements
    .map((element, index) => ({ element, box: measureOne(element, index, options.includeHtml) }))
    .filter(({ box }) => box.visible || !options.visibleOnly)
    .slice(0, options.limit)
    .map(({ element, box }, at) => ({ element, box: { ...box, index: options.from + at } }))
  if (shown.length === 0) return []
  const layer = open()
  layer.boxes = shown.map(({ element, box }) => ({ element, frame: boxFrame(layer, box.index) }))
  follow(layer)
  return shown.map(({ box }) => box)
}

export function clearBoxes(): void {
  const layer = registry[key]
  if (!layer) return
  for (const { frame } of layer.boxes) frame.remove()
  layer.boxes = []
  closeEmpty(layer)
}

function open(): Layer {
  const existing = registry[key]
  if (existing?.host.isConnected) return existing
  const host = existing?.host ?? document.createElement('bax-overlay')
  const layer = existing ?? {
    host,
    root: host.attachShadow({ mode: 'closed' }),
    marks: [],
    pointer: null,
    stopClicks: null,
    boxes: [],
  }
  host.setAttribute('aria-hidden', 'true')
  host.setAttribute('popover', 'manual')
  style(host, {
    all: 'initial',
    position: 'fixed',
    inset: '0',
    width: '100%',
    height: '100%',
    margin: '0',
    padding: '0',
    border: '0',
    background: 'transparent',
    overflow: 'hidden',
    'pointer-events': 'none',
    'z-index': '2147483647',
    display: 'block',
  })
  Object.defineProperty(registry, key, { value: layer, configurable: true, enumerable: false })
  attach(host)
  return layer
}

/** Adds the host to the document, and again when the document is rewritten or has no root yet. */
function attach(host: HTMLElement): void {
  const add = () => {
    if (!document.documentElement || host.isConnected) return
    document.documentElement.append(host)
    // The top layer is above dialogs too.
    host.showPopover()
  }
  add()
  const observer = new MutationObserver(() => {
    if (registry[key]?.host === host) add()
    else observer.disconnect()
  })
  observer.observe(document, { childList: true })
}

function closeEmpty(layer: Layer): void {
  if (layer.stopClicks || layer.boxes.length > 0) return
  Object.defineProperty(registry, key, { value: undefined, configurable: true, enumerable: false })
  layer.host.remove()
}

function followPointer(layer: Layer): () => void {
  const onMove = (event: PointerEvent) => {
    layer.pointer ??= mark(layer, { width: '12px', height: '12px', background: '#0072b2', border: '2px solid #fff' })
    putAt(layer.pointer, event.clientX, event.clientY)
  }
  const onDown = (event: PointerEvent) => {
    onMove(event)
    const ring = mark(layer, { width: '28px', height: '28px', background: '#e6194b55', border: '3px solid #e6194b' })
    ring.dataset['x'] = String(event.clientX + scrollX)
    ring.dataset['y'] = String(event.clientY + scrollY)
    putAt(ring, event.clientX, event.clientY)
    layer.marks.push(ring)
    if (layer.marks.length > maxMarks) layer.marks.shift()!.remove()
  }
  const onScroll = () => {
    for (const ring of layer.marks)
      putAt(ring, Number(ring.dataset['x']) - scrollX, Number(ring.dataset['y']) - scrollY)
  }
  const over = new AbortController()
  const options = { capture: true, passive: true, signal: over.signal }
  addEventListener('pointermove', onMove, options)
  addEventListener('pointerdown', onDown, options)
  addEventListener('scroll', onScroll, options)
  return () => over.abort()
}

function mark(layer: Layer, look: Record<string, string>): HTMLElement {
  const element = document.createElement('div')
  style(element, {
    position: 'fixed',
    'box-sizing': 'border-box',
    'border-radius': '50%',
    transform: 'translate(-50%, -50%)',
    ...look,
  })
  layer.root.append(element)
  return element
}

function putAt(element: HTMLElement, x: number, y: number): void {
  style(element, { left: `${x}px`, top: `${y}px` })
}

function boxFrame(layer: Layer, index: number): HTMLElement {
  const colour = colours[index % colours.length]!
  const frame = document.createElement('div')
  style(frame, { position: 'fixed', 'box-sizing': 'border-box', border: `2px solid ${colour}` })
  const label = document.createElement('div')
  label.textContent = String(index)
  style(label, {
    position: 'absolute',
    left: '-2px',
    top: '-2px',
    padding: '0 4px',
    background: colour,
    color: '#fff',
    font: 'bold 11px/14px sans-serif',
  })
  frame.append(label)
  layer.root.append(frame)
  return frame
}

/** Moves the boxes with their elements on every animation frame. */
function follow(layer: Layer): void {
  const drawn = layer.boxes
  const step = () => {
    if (layer.boxes !== drawn) return
    for (const { element, frame } of drawn) {
      const { left, top, width, height } = element.getBoundingClientRect()
      const shown = element.isConnected && width > 0 && height > 0
      style(frame, {
        left: `${left}px`,
        top: `${top}px`,
        width: `${width}px`,
        height: `${height}px`,
        display: shown ? 'block' : 'none',
      })
    }
    requestAnimationFrame(step)
  }
  step()
}

function style(element: HTMLElement, rules: Record<string, string>): void {
  for (const [name, value] of Object.entries(rules)) element.style.setProperty(name, value, 'important')
}
