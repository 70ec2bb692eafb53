/** Markers around text that others wrote, so that an agent can tell it from the text of bax. */
import { randomBytes } from 'node:crypto'

/** Returns a pair of markers. Their random part is new each time: a page cannot contain the marker that would end it. */
export function boundaries(): { readonly begin: string; readonly end: string } {
  const mark = `page-${randomBytes(4).toString('hex')}`
  return { begin: `<${mark}>`, end: `</${mark}>` }
}

/** Encloses a text in markers. */
export function enclosed(text: string): string {
  const { begin, end } = boundaries()
  return `${begin}\n${text}\n${end}`
}
