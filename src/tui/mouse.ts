/** Dispatches mouse events of the terminal to the components under the pointer. */
import type { CellArea } from './image/half-blocks.ts'

/** A pressed button or a turn of the wheel, in cells from the upper left corner of the terminal. */
export interface MouseEvent {
  readonly x: number
  readonly y: number
  readonly kind: 'press' | 'wheel-up' | 'wheel-down'
}

/** A component that handles mouse events; coordinates are relative to its area. */
export interface MouseTarget {
  /** Returns its area; null while it is hidden. */
  readonly area: () => CellArea | null
  readonly onMouse: (event: MouseEvent) => void
}

export class Mouse {
  readonly #targets: MouseTarget[] = []

  /** Adds a target; returns a function that removes it. */
  add(target: MouseTarget): () => void {
    this.#targets.push(target)
    return () => void this.#targets.splice(this.#targets.indexOf(target), 1)
  }

  /** Passes an event to the target that was added last among those under the pointer. */
  handle({ x, y, kind }: MouseEvent): void {
    for (const { area, onMouse } of this.#targets.toReversed()) {
      const own = area()
      if (!own || x < own.x || y < own.y || x >= own.x + own.columns || y >= own.y + own.rows) continue
      return onMouse({ x: x - own.x, y: y - own.y, kind })
    }
  }
}

/** Reports buttons and the wheel as `ESC [ < button ; column ; row M`. */
export const mouseOn = '\u001B[?1000h\u001B[?1006h'
export const mouseOff = '\u001B[?1006l\u001B[?1000l'

const reports = /\u001B\[<(\d+);(\d+);(\d+)([Mm])/g

/** Splits input into mouse events and other text; `rest` is the beginning of an incomplete report. */
export function splitMouse(input: string): { events: MouseEvent[]; text: string; rest: string } {
  const events = [...input.matchAll(reports)].flatMap(([, button, column, row, end]): MouseEvent[] => {
    const kind = kindOf(Number(button), end === 'M')
    return kind ? [{ x: Number(column) - 1, y: Number(row) - 1, kind }] : []
  })
  const text = input.replaceAll(reports, '')
  const rest = /\u001B\[<[\d;]*$/.exec(text)?.[0] ?? ''
  return { events, text: text.slice(0, text.length - rest.length), rest }
}

/** Only the left button and the wheel have a meaning. */
function kindOf(button: number, isPressed: boolean): MouseEvent['kind'] | undefined {
  if (button === 64) return 'wheel-up'
  if (button === 65) return 'wheel-down'
  return button === 0 && isPressed ? 'press' : undefined
}
