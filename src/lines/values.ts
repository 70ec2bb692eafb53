/** Converts arguments from text to the types of parameters. */
import { systemReason } from '../core/errors/system-errors.ts'
import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { BaxError } from '../core/errors/errors.ts'
import { type Param, parseText } from '../core/operation/params.ts'
import { didYouMean } from '../core/errors/suggest.ts'
import { type GlobalFlags, globalFlagKinds } from '../core/config/settings.ts'

/** Positional words and flags, before type conversion. */
export interface TypedArguments {
  readonly words: readonly (string | string[] | undefined)[]
  /** Values by the flag's name in camelCase; switches are booleans. */
  readonly flags: Readonly<Record<string, unknown>>
}

/** Returns the command line spelling of a wire name. */
export const kebab = (name: string): string => name.replaceAll('_', '-')

/** Returns the name of a command or field that is spelled as on the command line. */
export const snakeCase = (typed: string): string => typed.replaceAll('-', '_')

/** Returns the flag of a parameter, as shown in help and errors. */
export const flagOf = ({ name, flag = name }: Pick<Param, 'name' | 'flag'>): string => `--${kebab(flag)}`

/** Returns the key of a parameter in `TypedArguments.flags`. */
export const attributeOf = ({ name }: Pick<Param, 'name'>): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the value of a flag; undefined if absent. @throws BaxError `invalid_request` for text of another type */
export function flagValue(param: Param, flags: TypedArguments['flags'], cwd: string): unknown {
  const given = flags[attributeOf(param)]
  if (given === undefined || typeof given === 'boolean') return given
  const label = flagOf(param)
  if (Array.isArray(given)) return given.flatMap((text) => readText(param, String(text), label, cwd) as string[])
  return readText(param, String(given), label, cwd)
}

/** Returns the value of a positional word; undefined if absent. */
export function wordValue(param: Param, word: string | string[] | undefined, cwd: string): unknown {
  // The shell has already split a list into words.
  if (Array.isArray(word)) return word
  return word === undefined ? undefined : readText(param, word, kebab(param.name), cwd)
}

function readText(param: Param, text: string, label: string, cwd: string): unknown {
  const value = parseText(
    param,
    text.startsWith('@') && (param.type === 'json' || param.file) ? fileText(text, label, cwd, param.file) : text,
    label,
  )
  if (
    param.choices &&
    !(Array.isArray(value) ? value : [value]).every((item) => param.choices!.includes(String(item)))
  ) {
    throw new BaxError(
      'invalid_request',
      `${label} must be one of ${param.choices.join(', ')}, not ${JSON.stringify(text)}${didYouMean(text, param.choices)}`,
      { details: [{ path: param.name, message: `expected one of ${param.choices.join(', ')}` }] },
    )
  }
  return value
}

/** Working folder of command lines that must not read files, such as those of remote callers. */
export const noFiles = '\0'

/** Reads the file named by `@file`. @throws BaxError `invalid_request` when it is missing or not text */
export function fileText(text: string, label: string, cwd: string, as: Param['file'] = 'text'): string {
  if (cwd === noFiles)
    throw new BaxError('invalid_request', `${label}: files cannot be read here`, { hint: 'pass the value itself' })
  const path = resolve(cwd, text.slice(1))
  try {
    const bytes = readFileSync(path)
    if (as === 'text' && !isUtf8(bytes)) throw new Error('it is not UTF-8 text')
    return bytes.toString(as === 'text' ? 'utf8' : 'base64')
  } catch (error) {
    throw new BaxError('invalid_request', `${label}: cannot read ${path}: ${systemReason(error)}`, {
      cause: error,
    })
  }
}

/** Picks the flags that every command takes. */
export const globalFlags = (flags: TypedArguments['flags']): GlobalFlags =>
  Object.fromEntries([...globalFlagKinds.keys()].map((name) => [name, flags[name]]))
