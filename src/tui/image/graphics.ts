/** Detects the graphics support of a terminal by querying it. */
import type { ColourDepth } from '../theme.ts'
import type { Terminal } from '../host.ts'
import type { Query } from '../terminal/input.ts'

export interface Graphics {
  readonly kind: 'text' | 'kitty' | 'sixel'
  readonly depth: ColourDepth
  /** Size of one cell, in pixels. */
  readonly cell: { readonly width: number; readonly height: number }
}

/** The query for graphics support. */
export const graphicsQuery: Query = {
  // Queries kitty graphics, the cell size, and last the device attributes, which every terminal reports.
  sequence: '\u001B_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001B\\\u001B[16t\u001B[c',
  replies: /\u001B_G[^\u001B]*\u001B\\|\u001B\[6;\d+;\d+t|\u001B\[\?[\d;]*c/g,
  last: /\u001B\[\?[\d;]*c/,
  // Without a reply in time the UI draws images as text.
  timeoutMs: 400,
}

/** Whether the terminal can be queried. */
export const canQuery = ({ env, stdout }: Terminal): boolean =>
  Boolean(stdout.isTTY) && env['TERM'] !== 'dumb' && !env['NO_COLOR']

export const textGraphics = (depth: ColourDepth): Graphics => ({ kind: 'text', depth, cell: { width: 8, height: 16 } })

/** Parses the replies of the terminal. */
export function parseReplies(answers: string, depth: ColourDepth): Graphics {
  const size = /\u001B\[6;(\d+);(\d+)t/.exec(answers)
  const cell = size ? { height: Number(size[1]), width: Number(size[2]) } : { width: 8, height: 16 }
  const attributes = /\u001B\[\?([\d;]*)c/.exec(answers)?.[1]?.split(';') ?? []
  // Without the cell size an image cannot be scaled to its area.
  if (!size || cell.width === 0 || cell.height === 0) return textGraphics(depth)
  if (/\u001B_Gi=31;OK/.test(answers)) return { kind: 'kitty', depth, cell }
  return { kind: attributes.slice(1).includes('4') ? 'sixel' : 'text', depth, cell }
}
