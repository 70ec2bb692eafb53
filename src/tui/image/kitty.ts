/** Images for terminals with the kitty graphics protocol: compressed pixels in chunks. */
import { deflateSync } from 'node:zlib'
import type { Area } from './half-blocks.ts'
import type { Pixels } from './jpeg-thumbnail.ts'

const chunkChars = 4096

/** Returns the sequence that shows an image at the cursor in an area, replacing the last one with the same id. */
export function kittyImage({ width, height, data }: Pixels, area: Area, id: number): string {
  const text = deflateSync(data, { level: 1 }).toString('base64')
  const control = `a=T,f=24,o=z,s=${width},v=${height},c=${area.columns},r=${area.rows},i=${id},p=1,C=1,q=2`
  let sequence = ''
  for (let at = 0; at < text.length; at += chunkChars) {
    const more = at + chunkChars < text.length ? 1 : 0
    sequence += `\u001B_G${at === 0 ? `${control},` : ''}m=${more};${text.slice(at, at + chunkChars)}\u001B\\`
  }
  return sequence
}

/** Returns the sequence that removes an image and frees its data. */
export const removeKitty = (id: number): string => `\u001B_Ga=d,d=I,i=${id},q=2\u001B\\`
