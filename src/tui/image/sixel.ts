/** Images for terminals with sixel graphics: strips of six lines, one pass per colour. */
import type { Pixels } from './jpeg-thumbnail.ts'

/** Levels of each primary colour. */
const steps = 6
const palette = Array.from({ length: steps ** 3 }, (_, index) => {
  const part = (value: number) => Math.round((value * 100) / (steps - 1))
  return `#${index};2;${part(Math.floor(index / 36))};${part(Math.floor(index / 6) % 6)};${part(index % 6)}`
}).join('')

/** Dither matrix that prevents visible colour bands. */
const pattern = [
  [0, 8, 2, 10],
  [12, 4, 14, 6],
  [3, 11, 1, 9],
  [15, 7, 13, 5],
].map((row) => row.map((value) => (value / 16 - 0.5) * (255 / (steps - 1))))

export function sixelImage({ width, height, data }: Pixels): string {
  let text = `\u001BPq"1;1;${width};${height}${palette}`
  for (let top = 0; top < height; top += 6) text += strip({ width, height, data }, top)
  return `${text}\u001B\\`
}

function strip(picture: Pixels, top: number): string {
  const { width, height } = picture
  const colours = new Map<number, Uint8Array>()
  for (let y = top; y < Math.min(top + 6, height); y += 1)
    for (let x = 0; x < width; x += 1) {
      const colour = colourAt(picture, x, y)
      let cells = colours.get(colour)
      if (!cells) colours.set(colour, (cells = new Uint8Array(width)))
      cells[x]! |= 1 << (y - top)
    }
  return `${[...colours].map(([colour, cells]) => `#${colour}${packed(cells)}`).join('$')}-`
}

function colourAt({ width, data }: Pixels, x: number, y: number): number {
  const at = (y * width + x) * 3
  const shift = pattern[y & 3]![x & 3]!
  const part = (value: number) => Math.max(0, Math.min(steps - 1, Math.round(((value + shift) / 255) * (steps - 1))))
  return part(data[at]!) * 36 + part(data[at + 1]!) * 6 + part(data[at + 2]!)
}

/** Run-length encodes a line. */
function packed(cells: Uint8Array): string {
  let text = ''
  for (let at = 0; at < cells.length;) {
    let end = at + 1
    while (end < cells.length && cells[end] === cells[at]) end += 1
    const character = String.fromCharCode(63 + cells[at]!)
    text += end - at > 3 ? `!${end - at}${character}` : character.repeat(end - at)
    at = end
  }
  return text
}
