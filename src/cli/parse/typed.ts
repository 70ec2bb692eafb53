/** Reads words and flags with the types that they have after parsing. */
import { BaxError } from '../../core/errors/errors.ts'
import type { TypedArguments } from './values.ts'

type Flags = TypedArguments['flags']
type Words = TypedArguments['words']

/** Returns the text of a flag; undefined if absent. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns the texts of a flag that may be repeated. */
export const textFlags = (flags: Flags, name: string): string[] => [flags[name] ?? []].flat().map(String)

/** Returns the text of a word; undefined if absent. */
export function textWord(words: Words, at: number): string | undefined {
  const word = words[at]
  return typeof word === 'string' ? word : undefined
}

/** Returns the text of a required word, without which parsing fails. */
export function requiredWord(words: Words, at: number): string {
  const word = textWord(words, at)
  if (word === undefined) throw new BaxError('internal_error', `word ${at + 1} is missing`)
  return word
}

/** Returns the words of a place that takes several. */
export const listedWords = (words: Words, at: number): string[] => [words[at] ?? []].flat()
