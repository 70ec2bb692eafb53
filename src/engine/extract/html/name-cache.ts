/** Recent names of tags and attributes: pages have few, and finding one is cheaper than copying and hashing it. */
import { html } from 'parse5'

/** Last number that a hash of a name may have, one less than a power of two. */
export const lastSlot = 4095

/** Length of a name, in characters, up to which it is kept. */
const longestKept = 64

export interface Name {
  /** The name as the text has it. */
  readonly source: string
  readonly name: string
  readonly id: html.TAG_ID
}

const none: Name = { source: '', name: '', id: html.TAG_ID.UNKNOWN }

/** Names of all pages, by their hashes. */
const names: Name[] = Array.from({ length: lastSlot + 1 }, () => none)

/** Returns the name between two offsets of a text, which has this hash. */
export function nameAt(text: string, start: number, end: number, slot: number): Name {
  const known = names[slot]!
  if (known.source.length === end - start && text.startsWith(known.source, start)) return known
  const written = text.slice(start, end)
  const source = written.length > longestKept ? written : keptOnce(written)
  const name = uncommon.test(source) ? normalized(source) : source
  if (source.length > longestKept) return { source, name, id: html.TAG_ID.UNKNOWN }
  return (names[slot] = { source, name: name === source ? source : keptOnce(name), id: html.getTagID(name) })
}

const uncommon = /[A-Z\0]/

/** Lower-cases ASCII letters only. */
const normalized = (name: string): string =>
  name.replaceAll(/[A-Z]{1,100}/g, (letters) => letters.toLowerCase()).replaceAll('\0', '\ufffd')

/** Returns the copy of a text that V8 keeps as a key of objects: it is quick to compare, and does not keep its page. */
const keptOnce = (text: string): string => Object.keys({ [text]: true })[0]!
