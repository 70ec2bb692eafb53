/**
 * Sends mouse input on the canvas to the session, and keyboard, clipboard and input method text typed into an invisible
 * text field: input methods and dead keys only compose text in an editable element.
 */
import type { LiveInputMessage } from '../../core/shapes/live-view.ts'

interface InputTarget {
  /** The invisible text field. */
  readonly keys: HTMLTextAreaElement
  readonly send: (message: LiveInputMessage) => void
  readonly hasControl: () => boolean
  /** Size of the viewport shown on the canvas, in CSS pixels. */
  readonly viewport: () => { readonly width: number; readonly height: number }
}

const buttonNames = ['left', 'middle', 'right'] as const

export function forwardInput(canvas: HTMLCanvasElement, target: InputTarget): void {
  forwardMouse(canvas, target)
  forwardKeys(target)
}

function forwardMouse(canvas: HTMLCanvasElement, { keys, send, hasControl, viewport }: InputTarget): void {
  const mouse = (action: 'move' | 'down' | 'up' | 'wheel') => (event: MouseEvent) => {
    if (!hasControl()) return
    if (action !== 'move') event.preventDefault()
    if (action === 'down') {
      // Input methods show their candidates beside the text field.
      keys.style.translate = `${event.clientX}px ${event.clientY}px`
      keys.focus()
    }
    const wheel = event as WheelEvent
    send({
      type: 'mouse',
      action,
      ...positionOf(event),
      button: action === 'down' || action === 'up' ? (buttonNames[event.button] ?? 'none') : 'none',
      buttons: event.buttons,
      clicks: action === 'down' || action === 'up' ? Math.min(event.detail, 3) : 0,
      modifiers: modifiersOf(event),
      ...(action === 'wheel' && { delta_x: pixels(wheel, wheel.deltaX), delta_y: pixels(wheel, wheel.deltaY) }),
    })
  }
  const positionOf = ({ clientX, clientY }: MouseEvent) => {
    const box = canvas.getBoundingClientRect()
    const { width, height } = viewport()
    const within = (value: number, limit: number) => Math.min(Math.max(value, 0), limit - 1)
    return {
      x: within(((clientX - box.left) / box.width) * width, width),
      y: within(((clientY - box.top) / box.height) * height, height),
    }
  }
  canvas.addEventListener('mousemove', mouse('move'))
  canvas.addEventListener('mousedown', mouse('down'))
  addEventListener('mouseup', (event) => event.target === canvas && mouse('up')(event))
  canvas.addEventListener('wheel', mouse('wheel'), { passive: false })
  canvas.addEventListener('contextmenu', (event) => hasControl() && event.preventDefault())
}

function forwardKeys({ keys, send, hasControl }: InputTarget): void {
  const key = (action: 'down' | 'up') => (event: KeyboardEvent) => {
    // Composed and pasted text is sent as text, by the handlers below.
    if (!hasControl() || isComposing(event) || isPaste(event)) return
    event.preventDefault()
    const { code, location, repeat } = event
    send({
      type: 'key',
      action,
      key: event.key.slice(0, 32),
      code,
      key_code: Math.min(event.keyCode, 255),
      location,
      repeat,
      modifiers: modifiersOf(event),
    })
  }
  keys.addEventListener('keydown', key('down'))
  keys.addEventListener('keyup', key('up'))
  document.addEventListener('paste', (event) => {
    if (!hasControl() || document.activeElement !== keys) return
    event.preventDefault()
    const text = event.clipboardData?.getData('text/plain')
    if (text) send({ type: 'text', text })
  })
  // Keys that are sent as keys never reach the field: what is typed into it comes from an input method or a dead key.
  const sendTyped = () => {
    const text = keys.value
    keys.value = ''
    if (hasControl() && text) send({ type: 'text', text })
  }
  keys.addEventListener('compositionend', sendTyped)
  keys.addEventListener('input', (event) => {
    if (!(event as InputEvent).isComposing) sendTyped()
  })
}

/** Key code of keys that an input method handles. */
const processKey = 229

const isComposing = ({ isComposing, key, keyCode }: KeyboardEvent) =>
  isComposing || key === 'Dead' || key === 'Process' || keyCode === processKey

const isPaste = ({ key, ctrlKey, metaKey }: KeyboardEvent) => (ctrlKey || metaKey) && key.toLowerCase() === 'v'

const modifiersOf = ({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent | KeyboardEvent) =>
  Number(altKey) + 2 * Number(ctrlKey) + 4 * Number(metaKey) + 8 * Number(shiftKey)

/** Converts a wheel delta to pixels: some browsers count lines or pages. */
const pixels = ({ deltaMode }: WheelEvent, delta: number) => delta * ([1, 20, 600][deltaMode] ?? 1)
