/** Reads words and flags with the types that they have after parsing. */
import { BaxError } from '../core/errors/errors.ts'
import type { Param } from '../core/operation/params.ts'
import { flagValue, type TypedArguments } from './values.ts'

type Flags = TypedArguments['flags']
type Words = TypedArguments['words']

/** Returns the text of a flag; undefined if absent. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  if (typeof value !== 'string') return undefined
  // In `-s=shop`, the equals sign is a part of the value.
  return name === 'session' ? value.replace(/^=/, '') : value
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

interface ValueTypes {
  readonly string: string
  readonly number: number
  readonly integer: number
  readonly boolean: boolean
  readonly 'string[]': readonly string[]
  readonly json: unknown
}

type Chosen<P extends Param> = P['choices'] extends readonly (infer Choice)[] ? Choice : never

/** Type of a flag's value; undefined is possible if it is optional and has no default. */
type ValueOf<P extends Param> =
  | (P extends { readonly choices: readonly string[] }
      ? P['type'] extends 'string[]'
        ? readonly Chosen<P>[]
        : Chosen<P>
      : ValueTypes[P['type']])
  | (P extends { readonly default: {} } | { readonly required: true } ? never : undefined)

type Params = Readonly<Record<string, Param>>

export type ValuesOf<All extends Params> = { readonly [Name in keyof All]: ValueOf<All[Name]> }

/** Returns the values of the flags of a table, each of which is parsed when it is read. */
export function readParams<All extends Params>(params: All, flags: Flags, cwd: string): ValuesOf<All> {
  const values = {}
  for (const [name, param] of Object.entries(params))
    Object.defineProperty(values, name, { get: () => flagValue(param, flags, cwd) ?? param.default })
  return values as ValuesOf<All>
}
