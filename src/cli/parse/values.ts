/** What was typed, from text to the types of parameters. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { type Param, parseText } from '../../core/operation/params.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import type { GlobalFlags } from '../settings.ts'

/** Words and flags that were typed, before they are given types. */
export interface Typed {
  readonly words: readonly (string | string[] | undefined)[]
  /** By the name of the flag in camelCase; a switch is true or false. */
  readonly flags: Readonly<Record<string, unknown>>
}

/** The terminal's spelling of a wire name. */
export const kebab = (name: string): string => name.replaceAll('_', '-')

/** The name under which a flag's text is kept. */
export const attributeOf = (param: Param): string =>
  param.name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** The value of a flag by its parameter; undefined when it was not given. @throws BaxError for text of another type. */
export function flagValue(param: Param, flags: Typed['flags'], cwd: string): unknown {
  const given = flags[attributeOf(param)]
  if (given === undefined || typeof given === 'boolean') return given
  const label = `--${kebab(param.name)}`
  if (Array.isArray(given)) return given.flatMap((text) => readText(param, String(text), label, cwd) as string[])
  return readText(param, String(given), label, cwd)
}

/** The value of a positional word by its parameter. */
export function wordValue(param: Param, word: string | string[] | undefined, cwd: string): unknown {
  // Words of their own are taken as they are: the shell has separated them already.
  if (Array.isArray(word)) return word
  return word === undefined ? undefined : readText(param, word, kebab(param.name), cwd)
}

function readText(param: Param, text: string, label: string, cwd: string): unknown {
  const value = parseText(
    param,
    param.type === 'json' && text.startsWith('@') ? fileText(text, label, cwd) : text,
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

/** The content of the file in `@file`. */
export function fileText(text: string, label: string, cwd: string): string {
  const path = resolve(cwd, text.slice(1))
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new BaxError('invalid_request', `${label}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, {
      cause: error,
    })
  }
}

/** The flags of every command among those that were typed. */
export function globalFlags(flags: Typed['flags']): GlobalFlags {
  const { server, embedded, stateDir, browser, json } = flags as GlobalFlags
  return { server, embedded, stateDir, browser, json } as GlobalFlags
}
