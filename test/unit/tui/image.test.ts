import jpeg from 'jpeg-js'
import { describe, expect, test } from 'vitest'
import { drawImage } from '../../../src/tui/image/draw.ts'
import { textGraphics } from '../../../src/tui/image/graphics.ts'
import { fitInto, halfBlocks } from '../../../src/tui/image/half-blocks.ts'
import { type Pixels, thumbnail } from '../../../src/tui/image/jpeg-thumbnail.ts'
import { kittyImage } from '../../../src/tui/image/kitty.ts'
import { sixelImage } from '../../../src/tui/image/sixel.ts'

/** Encodes a JPEG whose left half is red and whose right half is blue. */
function twoColours(width: number, height: number): Buffer {
  const data = Buffer.alloc(width * height * 4, 255)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) data.set(x < width / 2 ? [220, 20, 10] : [10, 20, 220], (y * width + x) * 4)
  return jpeg.encode({ data, width, height }, 90).data
}

const at = ({ width, data }: Pixels, x: number, y: number) => [
  ...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
]

describe('thumbnail', () => {
  test('has the mean colours of the full image', () => {
    const small = thumbnail(twoColours(320, 160))!
    expect([small.width, small.height]).toEqual([40, 20])
    for (const [x, colour] of [
      [3, [220, 20, 10]],
      [36, [10, 20, 220]],
    ] as const)
      for (const [part, value] of at(small, x, 10).entries()) expect(Math.abs(value - colour[part]!)).toBeLessThan(12)
  })

  test('rounds the size up for partial blocks', () => {
    expect(thumbnail(twoColours(33, 9))).toMatchObject({ width: 5, height: 2 })
  })

  test('returns null for other data, and for JPEGs that are cut off before their pixels', () => {
    expect(thumbnail(Buffer.from('hello, this is not an image'))).toBeNull()
    expect(thumbnail(twoColours(64, 64).subarray(0, 40))).toBeNull()
  })

  test('terminates for corrupt images', () => {
    const whole = twoColours(64, 64)
    for (let at = 0; at < whole.length; at += 7) {
      const broken = Buffer.from(whole)
      broken[at] = broken[at]! ^ 0x5a
      const small = thumbnail(broken)
      if (small) expect(small.data.length).toBe(small.width * small.height * 3)
    }
  })
})

describe('half blocks', () => {
  const small: Pixels = { width: 2, height: 2, data: Uint8Array.from([255, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255]) }

  test('keep the aspect ratio, with cells twice as high as wide', () => {
    expect(fitInto({ width: 1280, height: 720 }, { columns: 64, rows: 30 })).toEqual({ columns: 64, rows: 18 })
    expect(fitInto({ width: 1280, height: 720 }, { columns: 200, rows: 9 })).toEqual({ columns: 32, rows: 9 })
  })

  test('show two pixels per cell, in the supported colours', () => {
    expect(halfBlocks(small, { columns: 2, rows: 1 }, 3)).toEqual([
      '\u001B[38;2;255;0;0;48;2;255;0;0m▀\u001B[38;2;0;0;255;48;2;0;0;255m▀',
    ])
    expect(halfBlocks(small, { columns: 2, rows: 1 }, 2)).toEqual([
      '\u001B[38;5;196;48;5;196m▀\u001B[38;5;21;48;5;21m▀',
    ])
  })

  test('use characters of different brightness without colours', () => {
    const light: Pixels = {
      width: 2,
      height: 2,
      data: Uint8Array.from([255, 255, 255, 0, 0, 0, 255, 255, 255, 0, 0, 0]),
    }
    expect(halfBlocks(light, { columns: 2, rows: 1 }, 0)).toEqual(['@ '])
  })

  test('are centred in their area', async () => {
    const overlay = await drawImage(twoColours(320, 160), { x: 10, y: 3, columns: 60, rows: 10 }, textGraphics(3), 1)
    expect(overlay).toMatchObject({ x: 20, y: 3, height: 10 })
    expect(overlay!.lines).toHaveLength(10)
  })
})

describe('terminal graphics', () => {
  const graphics = { depth: 3, cell: { width: 4, height: 8 } } as const
  const frame = { x: 0, y: 0, columns: 10, rows: 5 }

  test('kitty: sends pixels in chunks of at most 4096 characters, and a sequence that removes them', async () => {
    const overlay = (await drawImage(twoColours(64, 64), frame, { kind: 'kitty', ...graphics }, 7))!
    expect(overlay.lines[0]).toContain('a=T,f=24,o=z,s=64,v=64,c=10,r=5,i=7')
    expect(overlay).toMatchObject({ stays: true, remove: expect.stringContaining('a=d,d=I,i=7') })
    const noise: Pixels = {
      width: 64,
      height: 64,
      data: Uint8Array.from({ length: 64 * 64 * 3 }, (_, at) => (at * 7919) % 251),
    }
    for (const piece of kittyImage(noise, { columns: 1, rows: 1 }, 1).split('\u001B\\').filter(Boolean))
      expect(piece.slice(piece.indexOf(';') + 1).length).toBeLessThanOrEqual(4096)
  })

  test('sixel: scales the image to the size of the cells', async () => {
    const overlay = (await drawImage(twoColours(64, 64), frame, { kind: 'sixel', ...graphics }, 7))!
    expect(overlay.lines[0]).toMatch(/^\u001BPq"1;1;40;40#0;2;0;0;0/)
    expect(overlay.lines[0]!.endsWith('\u001B\\')).toBe(true)
    // One line of two pixels: black, then white; one bit of six in each.
    const two: Pixels = { width: 2, height: 1, data: Uint8Array.from([0, 0, 0, 255, 255, 255]) }
    expect(sixelImage(two)).toMatch(/#0@\?\$#215\?@-\u001B\\$/)
  })
})
