/**
 * The output of the terminal: receives each frame from ink, writes only the lines that changed, and draws images over
 * the text. Ink would clear the terminal for frames of full height, and cannot draw anything but text.
 */
import { EventEmitter } from 'node:events'
import { mouseOff, mouseOn } from '../mouse.ts'

/** An image over the text, in cells from the upper left corner (0, 0). */
export interface Overlay {
  readonly x: number
  readonly y: number
  readonly height: number
  /** Text of each line, or a single sequence that is written at the upper left corner. */
  readonly lines: readonly string[]
  /** Whether the image survives changes of the text below it; others are drawn again. */
  readonly stays?: boolean
  /** Sequence that removes the image, where overwriting it with text does not. */
  readonly remove?: string
}

/** Lines do not wrap: after a resize, one that is too long must not run into the next. */
const enter = `\u001B[?1049h\u001B[?25l\u001B[?7l${mouseOn}\u001B[2J\u001B[H`
const leave = `\u001B[0m${mouseOff}\u001B[?7h\u001B[?25h\u001B[?1049l`
/** Makes terminals show everything in between at once; others ignore these sequences. */
const synchronized = ['\u001B[?2026h', '\u001B[?2026l'] as const

const at = (y: number, x: number): string => `\u001B[${y + 1};${x + 1}H`

export class Screen extends EventEmitter {
  readonly isTTY = true
  readonly #out: NodeJS.WriteStream
  #open = false
  #shown: (string | undefined)[] = []
  #frame = ''
  readonly #overlays = new Map<symbol, { overlay: Overlay; drawn: (string | undefined)[] }>()
  readonly #resized = (): void => {
    // The last frame has the old size.
    this.#frame = ''
    this.#forget()
    this.emit('resize')
  }

  constructor(out: NodeJS.WriteStream) {
    super()
    this.#out = out
    this.setMaxListeners(Infinity)
  }

  /** Some terminals report a size of 0 by 0; then a default applies. */
  get columns(): number {
    return this.#out.columns || 80
  }

  get rows(): number {
    return this.#out.rows || 24
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Switches to the alternate screen; `close` restores the previous content. */
  open(): void {
    if (this.#open) return
    this.#open = true
    this.#out.on('resize', this.#resized)
    this.#out.write(enter)
    this.#forget()
    this.#draw()
  }

  /** Restores the terminal. Can be called at any time and repeatedly. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#out.off('resize', this.#resized)
    const removals = [...this.#overlays.values()].map(({ overlay }) => overlay.remove ?? '')
    this.#out.write(removals.join('') + leave)
  }

  /** Draws a whole frame. */
  write(frame: string | Uint8Array, done?: () => void): boolean {
    if (frame.length > 0) {
      this.#frame = String(frame)
      this.#draw()
    }
    if (done) setImmediate(done)
    return true
  }

  /** Writes a sequence without visible output, such as a query or clipboard content. */
  send(sequence: string): void {
    if (this.#open) this.#out.write(sequence)
  }

  /** Shows or moves an image over the text; null removes it. */
  place(key: symbol, overlay: Overlay | null): void {
    const before = this.#overlays.get(key)
    if (overlay === null) {
      if (!before) return
      this.#overlays.delete(key)
      if (before.overlay.remove) this.send(before.overlay.remove)
      this.#forgetLines(before.overlay)
    } else {
      const moved =
        before !== undefined &&
        (before.overlay.x !== overlay.x || before.overlay.y !== overlay.y || before.overlay.height !== overlay.height)
      if (moved) this.#forgetLines(before.overlay)
      this.#overlays.set(key, { overlay, drawn: moved || !before ? [] : before.drawn })
    }
    this.#draw()
  }

  #forget(): void {
    this.#shown = []
    for (const placed of this.#overlays.values()) placed.drawn.length = 0
    if (this.#open) this.#out.write('\u001B[0m\u001B[2J')
  }

  #forgetLines({ y, height }: Overlay): void {
    for (let line = y; line < y + height; line += 1) this.#shown[line] = undefined
  }

  #draw(): void {
    if (!this.#open) return
    const lines = this.#frame.split('\n')
    const changed = new Set<number>()
    let text = ''
    for (let y = 0; y < this.rows; y += 1) {
      const line = lines[y] ?? ''
      if (this.#shown[y] === line) continue
      this.#shown[y] = line
      changed.add(y)
      // Erase first: erasing after a full line would delete its last character.
      text += `${at(y, 0)}\u001B[0m\u001B[2K${line}\u001B[0m`
    }
    for (const placed of this.#overlays.values()) text += this.#drawOverlay(placed, changed)
    if (text !== '') this.#out.write(synchronized[0] + text + synchronized[1])
  }

  #drawOverlay({ overlay, drawn }: { overlay: Overlay; drawn: (string | undefined)[] }, changed: Set<number>): string {
    const { x, y, height, lines, stays } = overlay
    let text = ''
    const isTouched =
      lines.length < height && Array.from({ length: height }, (_, line) => y + line).some((line) => changed.has(line))
    for (const [index, line] of lines.entries()) {
      // Below the last row, the terminal would write over it.
      if (y + index >= this.rows) break
      const isBare = !stays && (changed.has(y + index) || isTouched)
      if (drawn[index] === line && !isBare) continue
      drawn[index] = line
      text += `${at(y + index, x)}${line}\u001B[0m`
    }
    drawn.length = lines.length
    return text
  }
}
