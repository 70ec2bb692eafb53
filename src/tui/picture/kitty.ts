/** Pictures for terminals that know kitty's way: pixels, compressed, in pieces. */
import { deflateSync } from 'node:zlib'
import type { Pixels } from './jpeg-thumbnail.ts'

/** Characters that one piece may have. */
const pieceChars = 4096

/** What shows the picture in so many cells at the cursor, in place of the last one of that number. */
export function kittyPicture(
  { width, height, data }: Pixels,
  area: { readonly columns: number; readonly rows: number },
  id: number,
): string {
  const text = deflateSync(data, { level: 1 }).toString('base64')
  const facts = `a=T,f=24,o=z,s=${width},v=${height},c=${area.columns},r=${area.rows},i=${id},p=1,C=1,q=2`
  let sequence = ''
  for (let at = 0; at < text.length; at += pieceChars) {
    const more = at + pieceChars < text.length ? 1 : 0
    sequence += `\u001B_G${at === 0 ? `${facts},` : ''}m=${more};${text.slice(at, at + pieceChars)}\u001B\\`
  }
  return sequence
}

/** Takes it away and forgets it. */
export const removeKitty = (id: number): string => `\u001B_Ga=d,d=I,i=${id},q=2\u001B\\`
