/** Sends mouse, keyboard and clipboard input on the canvas to the session. */
import type { LiveInputMessage } from '../../core/shapes/live-view.ts'

interface InputTarget {
  readonly send: (message: LiveInputMessage) => void
  readonly hasControl: () => boolean
  /** Size of the viewport shown on the canvas, in CSS pixels. */
  readonly viewport: () => { readonly width: number; readonly height: number }
}

const buttonNames = ['left', 'middle', 'right'] as const

export function forwardInput(canvas: HTMLCanvasElement, { send, hasControl, viewport }: InputTarget): void {
  const mouse = (action: 'move' | 'down' | 'up' | 'wheel') => (event: MouseEvent) => {
    if (!hasControl()) return
    if (action !== 'move') event.preventDefault()
    if (action === 'down') canvas.focus()
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

  const key = (action: 'down' | 'up') => (event: KeyboardEvent) => {
    // Composed and pasted text is sent as text, by the handlers below.
    if (!hasControl() || event.isComposing || isPaste(event)) return
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
  canvas.addEventListener('keydown', key('down'))
  canvas.addEventListener('keyup', key('up'))
  document.addEventListener('paste', (event) => {
    if (!hasControl() || document.activeElement !== canvas) return
    event.preventDefault()
    const text = event.clipboardData?.getData('text/plain')
    if (text) send({ type: 'text', text })
  })
  canvas.addEventListener('compositionend', ({ data }) => {
    if (hasControl() && data) send({ type: 'text', text: data })
  })
}

const isPaste = ({ key, ctrlKey, metaKey }: KeyboardEvent) => (ctrlKey || metaKey) && key.toLowerCase() === 'v'

const modifiersOf = ({ altKey, ctrlKey, metaKey, shiftKey }: MouseEvent | KeyboardEvent) =>
  Number(altKey) + 2 * Number(ctrlKey) + 4 * Number(metaKey) + 8 * Number(shiftKey)

/** Converts a wheel delta to pixels: some browsers count lines or pages. */
const pixels = ({ deltaMode }: WheelEvent, delta: number) => delta * ([1, 20, 600][deltaMode] ?? 1)
