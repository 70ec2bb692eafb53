/** What a terminal can show beside text: asked of itself, within a moment. */
import type { ColourDepth } from '../theme.ts'
import type { Terminal } from '../desk.ts'

export interface Graphics {
  readonly kind: 'text' | 'kitty' | 'sixel'
  readonly depth: ColourDepth
  /** Pixels of one cell. */
  readonly cell: { readonly width: number; readonly height: number }
}

/** How long a terminal may take to answer; over a slow line it shows text. */
export const answerMs = 400

/** Asks for graphics, for the size of a cell, and last for what every terminal answers. */
export const question = '\u001B_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001B\\\u001B[16t\u001B[c'

/** All that answers the question, wherever it stands among the keys. */
export const answerPattern = /\u001B_G[^\u001B]*\u001B\\|\u001B\[6;\d+;\d+t|\u001B\[\?[\d;]*c/g

/** The last part of an answer: nothing more comes. */
export const isWhole = (answers: string): boolean => /\u001B\[\?[\d;]*c/.test(answers)

/** Whether it makes sense to ask. */
export const mayAsk = ({ env, stdout }: Terminal): boolean =>
  Boolean(stdout.isTTY) && env['TERM'] !== 'dumb' && !env['NO_COLOR']

export const textGraphics = (depth: ColourDepth): Graphics => ({ kind: 'text', depth, cell: { width: 8, height: 16 } })

/** What the answers say. */
export function readAnswers(answers: string, depth: ColourDepth): Graphics {
  const size = /\u001B\[6;(\d+);(\d+)t/.exec(answers)
  const cell = size ? { height: Number(size[1]), width: Number(size[2]) } : { width: 8, height: 16 }
  const attributes = /\u001B\[\?([\d;]*)c/.exec(answers)?.[1]?.split(';') ?? []
  // Without the size of a cell a picture could not be put into its place.
  if (!size || cell.width === 0 || cell.height === 0) return textGraphics(depth)
  if (/\u001B_Gi=31;OK/.test(answers)) return { kind: 'kitty', depth, cell }
  return { kind: attributes.slice(1).includes('4') ? 'sixel' : 'text', depth, cell }
}
