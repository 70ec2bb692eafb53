/** A JPEG as what this terminal shows. */
import type { Overlay } from '../terminal/screen.ts'
import type { Graphics } from './graphics.ts'
import { fitInto, halfBlocks, resize } from './half-blocks.ts'
import { type Pixels, thumbnail } from './jpeg-thumbnail.ts'
import { kittyPicture, removeKitty } from './kitty.ts'
import { sixelPicture } from './sixel.ts'

/** Cells from the upper left corner of the terminal. */
export interface Frame {
  readonly x: number
  readonly y: number
  readonly columns: number
  readonly rows: number
}

/** Puts a picture into the middle of a frame; null when the bytes are no picture. `id` tells pictures apart. */
export async function drawPicture(
  jpeg: Uint8Array,
  frame: Frame,
  { kind, depth, cell }: Graphics,
  id: number,
): Promise<Overlay | null> {
  const pixels = kind === 'text' ? (thumbnail(jpeg) ?? (await decode(jpeg))) : await decode(jpeg)
  if (!pixels) return null
  const area = fitInto(pixels, frame)
  const place = {
    x: frame.x + Math.floor((frame.columns - area.columns) / 2),
    y: frame.y,
    height: area.rows,
  }
  if (kind === 'text') return { ...place, lines: halfBlocks(pixels, area, depth) }
  const size = { width: area.columns * cell.width, height: area.rows * cell.height }
  if (kind === 'kitty')
    return { ...place, lines: [kittyPicture(pixels, area, id)], stays: true, remove: removeKitty(id) }
  return { ...place, lines: [sixelPicture(resize(pixels, size.width, size.height))] }
}

async function decode(jpeg: Uint8Array): Promise<Pixels | null> {
  const { default: codec } = await import('jpeg-js')
  try {
    const { width, height, data } = codec.decode(jpeg, { useTArray: true, formatAsRGBA: false })
    return { width, height, data }
  } catch {
    // Cut off or of a kind that nobody sends: the next one comes soon.
    return null
  }
}
