/** Recent names of tags and attributes: pages have few, and finding one is cheaper than copying and hashing it. */
import { html } from 'parse5'

/** Last number that a hash of a name may have, one less than a power of two. */
export const lastSlot = 1023

/** Length of a name, in characters, up to which it is kept. */
const longestKept = 64

export interface Name {
  /** The name as the text has it. */
  readonly source: string
  readonly name: string
  readonly id: html.TAG_ID
}

/** Names of all pages, by their hashes. */
const names: Name[] = Array.from({ length: lastSlot + 1 }, () => ({ source: '', name: '', id: html.TAG_ID.UNKNOWN }))

/** Returns the name between two offsets of a text, which has this hash. */
export function nameAt(text: string, start: number, end: number, slot: number): Name {
  const known = names[slot]!
  if (known.source.length === end - start && text.startsWith(known.source, start)) return known
  const source = text.slice(start, end)
  const name = lowerCase(source).replaceAll('\0', '\ufffd')
  if (source.length > longestKept) return { source, name, id: html.TAG_ID.UNKNOWN }
  return (names[slot] = { source: keptOnce(source), name: keptOnce(name), id: html.getTagID(name) })
}

/** Lower-cases ASCII letters only. */
const lowerCase = (name: string): string =>
  /[A-Z]/.test(name) ? name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name

/** Returns the copy of a text that V8 keeps as a key of objects: it is quick to compare, and does not keep its page. */
const keptOnce = (text: string): string => Object.keys({ [text]: true })[0]!
