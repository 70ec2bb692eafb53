/** Draws images as text: each cell is a half block with two pixels, one as its foreground and one as its background. */
import type { ColourDepth } from '../theme.ts'
import type { Pixels } from './jpeg-thumbnail.ts'

/** A size in cells. */
export interface Area {
  readonly columns: number
  readonly rows: number
}

/** An area of the terminal, in cells from its upper left corner. */
export interface CellArea extends Area {
  readonly x: number
  readonly y: number
}

/** Returns the largest area with the image's aspect ratio inside another; a cell is twice as high as it is wide. */
export function fitInto({ width, height }: { readonly width: number; readonly height: number }, area: Area): Area {
  const scale = Math.min(area.columns / width, (area.rows * 2) / height)
  return {
    columns: Math.max(1, Math.min(area.columns, Math.round(width * scale))),
    rows: Math.max(1, Math.min(area.rows, Math.ceil((height * scale) / 2))),
  }
}

/** Returns the lines of an image scaled to an area. */
export function halfBlocks(picture: Pixels, { columns, rows }: Area, depth: ColourDepth): string[] {
  const small = resize(picture, columns, rows * 2)
  return Array.from({ length: rows }, (_, row) => line(small, row, depth))
}

/** Scales an image; each pixel is the mean of the pixels that it replaces. */
export function resize({ width, height, data }: Pixels, columns: number, rows: number): Pixels {
  const small = new Uint8Array(columns * rows * 3)
  for (let y = 0, to = 0; y < rows; y += 1) {
    const top = Math.floor((y * height) / rows)
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * height) / rows))
    for (let x = 0; x < columns; x += 1, to += 3) {
      const left = Math.floor((x * width) / columns)
      const right = Math.max(left + 1, Math.floor(((x + 1) * width) / columns))
      let [r, g, b] = [0, 0, 0]
      for (let v = top; v < bottom; v += 1)
        for (let u = left; u < right; u += 1) {
          const from = (v * width + u) * 3
          r += data[from]!
          g += data[from + 1]!
          b += data[from + 2]!
        }
      const count = (bottom - top) * (right - left)
      small[to] = r / count
      small[to + 1] = g / count
      small[to + 2] = b / count
    }
  }
  return { width: columns, height: rows, data: small }
}

/** Characters from dark to light, for terminals without colours. */
const shades = ' .:-=+*#%@'

function line({ width, data }: Pixels, row: number, depth: ColourDepth): string {
  let text = ''
  let before = ''
  for (let x = 0; x < width; x += 1) {
    const top = (row * 2 * width + x) * 3
    const bottom = top + width * 3
    if (depth < 2) {
      const light = (lightOf(data, top) + lightOf(data, bottom)) / 2
      text += shades[Math.min(shades.length - 1, Math.floor((light / 256) * shades.length))]
      continue
    }
    const colour = `\u001B[38;${code(data, top, depth)};48;${code(data, bottom, depth)}m`
    text += colour === before ? '▀' : `${colour}▀`
    before = colour
  }
  return text
}

const lightOf = (data: Uint8Array, at: number): number =>
  0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!

function code(data: Uint8Array, at: number, depth: ColourDepth): string {
  const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!]
  return depth === 3 ? `2;${r};${g};${b}` : `5;${nearest(r, g, b)}`
}

/** Returns the nearest of the 240 palette colours that are the same in all terminals. */
function nearest(r: number, g: number, b: number): number {
  if (Math.max(r, g, b) - Math.min(r, g, b) < 12) {
    const grey = Math.round((r - 8) / 10)
    if (grey >= 0 && grey < 24) return 232 + grey
  }
  const step = (value: number) => (value < 48 ? 0 : value < 115 ? 1 : Math.min(5, Math.floor((value - 35) / 40)))
  return 16 + 36 * step(r) + 6 * step(g) + step(b)
}
