/** Kinds of settings: the values that a flag, a variable or a settings file may hold, and how they are read. */
import { resolve } from 'node:path'
import { BaxError } from '../errors/errors.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The user's folders for data and for files that can be downloaded again. */
type Folders = Readonly<Record<'data' | 'cache', string>>

/** A value, and where it was given. */
export interface Given {
  /** Value of the flag, else of the variable, else of the file; undefined if all are missing or empty. */
  readonly value: unknown
  /** Folder that a relative path in the value starts from. */
  readonly base: string
  readonly variable: string
  /** Names of the setting in errors: `BAX_CRAWL_PAGES (crawl_pages in the file)`, `warm_pages in the file`. */
  readonly name: string
  readonly folders: Folders
  readonly env: Environment
}

/** Cells of a row in the guide that do not follow from the names. */
interface GuideCells {
  readonly flag?: string
  readonly environment?: string
  readonly file?: string
}

/** Places where a setting can be given, and where it goes. */
interface Places {
  /** Whether every command takes it as a flag. */
  readonly flag?: true
  /** Variable, when it is not `BAX_` and the name; false for none. */
  readonly variable?: string | false
  /** False if a settings file cannot set it. */
  readonly file?: false
  /**
   * Whether a project file may set it. Such a file comes with code from others: a server would receive the user's API
   * key, and a path or program would be opened or run.
   */
  readonly project?: true
  /** Whether engines get it, as the field of the same name in their configuration. */
  readonly engine?: true
  /** Field of `Settings`, when it is not the name in camelCase. */
  readonly as?: string
  /** Value when none is given. */
  readonly otherwise?: unknown
  /** Converts and checks a given value. */
  readonly to?: (value: never, name: string) => unknown
  /** False for a setting that the table of the guide does not list. */
  readonly guide?: GuideCells | false
}

export interface Setting<Value = unknown> extends Places {
  readonly description: string
  /** Type of the value in a settings file. */
  readonly kind: 'string' | 'boolean' | 'number' | 'object'
  readonly read: (given: Given) => Value
}

const kindOf =
  <Value>(kind: Setting['kind'], read: (given: Given) => Value) =>
  <const Where extends Places = object>(description: string, where: Where = {} as Where): Setting<Value> & Where => ({
    description,
    kind,
    read,
    ...where,
  })

export const text = kindOf('string', ({ value }) => value as string | undefined)

/** A path; relative ones start from the working folder, or from the folder of the settings file. */
export const path = kindOf('string', ({ value, base }) =>
  value === undefined ? undefined : resolve(base, value as string),
)

/** A folder that defaults to one of the user's. */
export const folder = (name: keyof Folders) =>
  kindOf('string', ({ value, base, folders }) => (value === undefined ? folders[name] : resolve(base, value as string)))

/** Returns whether a variable switches something on. */
export const isOn = (value: string | undefined): boolean => /^(?:on|true|1|yes)$/i.test(value ?? '')

export const toggle = kindOf('boolean', ({ value, variable }) => {
  if (typeof value !== 'string') return value as boolean | undefined
  if (isOn(value)) return true
  if (/^(?:off|false|0|no)$/i.test(value)) return false
  throw new BaxError('invalid_request', `${variable} must be on or off, not ${JSON.stringify(value)}`)
})

const numberOf = (kind: string, isValid: (value: number) => boolean) =>
  kindOf('number', ({ value, name }) => {
    if (value === undefined || isValid(Number(value))) return value === undefined ? undefined : Number(value)
    throw new BaxError('invalid_request', `${name} must be ${kind}`)
  })

export const count = numberOf('a whole number from 0 on', (value) => Number.isInteger(value) && value >= 0)
export const positive = numberOf('a number above 0', (value) => value > 0)
export const whole = numberOf('a whole number above 0', (value) => Number.isInteger(value) && value > 0)

/** Several settings with variables of their own, which a settings file holds in one object. */
export const group = <Value>(read: (env: Environment, file: object | undefined) => Value) =>
  kindOf('object', ({ value, env }) => read(env, value as object | undefined))

/** A row of the guide for variables that are read elsewhere. */
export const readElsewhere = (description: string, guide: GuideCells): Documented => ({ description, guide })

export interface Documented {
  readonly description: string
  readonly guide: GuideCells
}
