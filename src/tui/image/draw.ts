/** Draws JPEG frames in the best way that the terminal supports: pixels, or half blocks in text. */
import type { Overlay } from '../terminal/screen.ts'
import type { Graphics } from './graphics.ts'
import { type CellArea, fitInto, halfBlocks, resize } from './half-blocks.ts'
import { type Pixels, thumbnail } from './jpeg-thumbnail.ts'
import { kittyImage, removeKitty } from './kitty.ts'
import { sixelImage } from './sixel.ts'

/** Centres an image in an area; null when the bytes are not a JPEG. `id` identifies the image to the terminal. */
export async function drawImage(
  jpeg: Uint8Array,
  frame: CellArea,
  { kind, depth, cell }: Graphics,
  id: number,
): Promise<Overlay | null> {
  const pixels = kind === 'text' ? (thumbnail(jpeg) ?? (await decode(jpeg))) : await decode(jpeg)
  if (!pixels) return null
  const area = fitInto(pixels, frame)
  const place = { x: frame.x + Math.floor((frame.columns - area.columns) / 2), y: frame.y, height: area.rows }
  if (kind === 'text') return { ...place, lines: halfBlocks(pixels, area, depth) }
  if (kind === 'kitty') return { ...place, lines: [kittyImage(pixels, area, id)], stays: true, remove: removeKitty(id) }
  return { ...place, lines: [sixelImage(resize(pixels, area.columns * cell.width, area.rows * cell.height))] }
}

async function decode(jpeg: Uint8Array): Promise<Pixels | null> {
  const { default: codec } = await import('jpeg-js')
  try {
    const { width, height, data } = codec.decode(jpeg, { useTArray: true, formatAsRGBA: false })
    return { width, height, data }
  } catch {
    // A truncated or unsupported frame is skipped: the next one follows soon.
    return null
  }
}
