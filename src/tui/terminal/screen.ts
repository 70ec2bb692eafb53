/**
 * The whole terminal as one picture: takes each frame as ink made it and writes the lines that changed. Ink alone would
 * clear the terminal for a frame of full height; and what is not text, it cannot lay over its own.
 */
import { EventEmitter } from 'node:events'

/** A picture over the text, in cells from the upper left corner (0, 0). */
export interface Overlay {
  readonly x: number
  readonly y: number
  readonly height: number
  /**
   * What is written at each of its lines, or once at its corner. It is written again when the text below it changes, unless
   * it `stays`, as what is no text does on some terminals.
   */
  readonly lines: readonly string[]
  readonly stays?: boolean
  /** Takes it away, where text written over it does not. */
  readonly remove?: string
}

const enter = '\u001B[?1049h\u001B[?25l\u001B[2J\u001B[H'
const leave = '\u001B[0m\u001B[?25h\u001B[?1049l'
/** Terminals that know these show what is between them at once; the others ignore them. */
const together = ['\u001B[?2026h', '\u001B[?2026l'] as const

const at = (y: number, x: number): string => `\u001B[${y + 1};${x + 1}H`

export class Screen extends EventEmitter {
  readonly isTTY = true
  readonly #out: NodeJS.WriteStream
  #open = false
  #shown: (string | undefined)[] = []
  #frame = ''
  readonly #overlays = new Map<symbol, { overlay: Overlay; drawn: (string | undefined)[] }>()
  readonly #resized = (): void => {
    this.#forget()
    this.emit('resize')
  }

  constructor(out: NodeJS.WriteStream) {
    super()
    this.#out = out
    this.setMaxListeners(Infinity)
  }

  /** A terminal may say that it is 0 by 0, and nothing can be shown in that. */
  get columns(): number {
    return this.#out.columns || 80
  }

  get rows(): number {
    return this.#out.rows || 24
  }

  get isOpen(): boolean {
    return this.#open
  }

  /** Takes the terminal over; what was on it comes back with `close`. */
  open(): void {
    if (this.#open) return
    this.#open = true
    this.#out.on('resize', this.#resized)
    this.#out.write(enter)
    this.#forget()
    this.#draw()
  }

  /** Hands the terminal back; safe to call at any time, and twice. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#out.off('resize', this.#resized)
    const removals = [...this.#overlays.values()].map(({ overlay }) => overlay.remove ?? '')
    this.#out.write(removals.join('') + leave)
  }

  /** Takes one whole frame. */
  write(frame: string | Uint8Array, done?: () => void): boolean {
    if (frame.length > 0) {
      this.#frame = String(frame)
      this.#draw()
    }
    if (done) setImmediate(done)
    return true
  }

  /** Writes to the terminal beside the picture: what has no look, such as a question or a clipboard. */
  send(sequence: string): void {
    if (this.#open) this.#out.write(sequence)
  }

  /** Puts a picture over the text, or takes it away. */
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
      // Erased first: erasing after a full line would take its last character.
      text += `${at(y, 0)}\u001B[0m\u001B[2K${line}\u001B[0m`
    }
    for (const placed of this.#overlays.values()) text += this.#drawOverlay(placed, changed)
    if (text !== '') this.#out.write(together[0] + text + together[1])
  }

  #drawOverlay({ overlay, drawn }: { overlay: Overlay; drawn: (string | undefined)[] }, changed: Set<number>): string {
    const { x, y, height, lines, stays } = overlay
    let text = ''
    const isTouched =
      lines.length < height && Array.from({ length: height }, (_, line) => y + line).some((line) => changed.has(line))
    for (const [index, line] of lines.entries()) {
      const isBare = !stays && (changed.has(y + index) || isTouched)
      if (drawn[index] === line && !isBare) continue
      drawn[index] = line
      text += `${at(y + index, x)}${line}\u001B[0m`
    }
    drawn.length = lines.length
    return text
  }
}
