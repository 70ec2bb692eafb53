/** Fields of an input as flat parameters, and parsing them from text (flags, queries). Without zod, to start fast. */
import { BaxError } from '../errors/errors.ts'

export interface Param {
  /** Wire name, snake_case. */
  readonly name: string
  /** Main name on the command line, if it differs. */
  readonly flag?: string
  /** Other names of the field, on the command line and in requests. */
  readonly aliases?: readonly string[]
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'string[]' | 'json'
  readonly required: boolean
  readonly description?: string
  readonly default?: unknown
  readonly choices?: readonly string[]
  /** For lists: the allowed items, when no other text is valid. */
  readonly itemChoices?: readonly string[]
  /** For programs only; hidden from the command line. */
  readonly offTerminal?: true
  /** One-letter flag of a boolean, which then also has a negated flag. */
  readonly short?: string
  /** On the command line, `@file` reads the value from a file, as text or encoded in base64. */
  readonly file?: 'text' | 'base64'
  /** A short text form for an object of numbers. */
  readonly spelling?: Spelling
  /** Whether it is the path of a file that is written. */
  readonly writes?: true
  /** Name of the flag that turns a boolean off; `--no-x` when it is missing. */
  readonly opposite?: string
  /** Field of an object that text which is no JSON sets: a URL is the server of a proxy. */
  readonly textField?: string
}

/** A short form such as `1280x720` for `{width, height}`: the field names in order and their separator. */
export interface Spelling {
  readonly form: string
  readonly fields: readonly string[]
  readonly separator: string
}

/**
 * Parses one parameter from text (a flag, a query value).
 * @throws BaxError `invalid_request` that names `label` when the text does not have the parameter's type.
 */
export function parseText(param: Param, text: string, label = param.name): unknown {
  const fail = (expected: string) => {
    const message = `${label} must be ${expected}, not ${JSON.stringify(text)}`
    return new BaxError('invalid_request', message, {
      details: [{ path: param.name, message: `expected ${expected}` }],
    })
  }
  switch (param.type) {
    case 'string':
      return text
    case 'boolean':
      if (text === 'true' || text === 'on' || text === '') return true
      if (text === 'false' || text === 'off') return false
      throw fail('true or false')
    case 'number':
    case 'integer': {
      const value = Number(text)
      if (text.trim() === '' || !Number.isFinite(value)) throw fail('a number')
      if (param.type === 'integer' && !Number.isInteger(value)) throw fail('a whole number')
      return value
    }
    case 'string[]':
      return splitList(text).filter((item) => item !== '')
    case 'json':
      return parseJson(param, text, fail)
  }
}

/** Splits at commas, except in brackets, as in the selector `:is(h1, h2)`. */
function splitList(text: string): string[] {
  const items = ['']
  let depth = 0
  for (const part of text.split(/([,()[\]])/)) {
    if (part === ',' && depth === 0) {
      items.push('')
      continue
    }
    if (part === '(' || part === '[') depth++
    else if ((part === ')' || part === ']') && depth > 0) depth--
    items[items.length - 1] += part
  }
  // An open bracket is a character like others.
  return depth > 0 ? text.split(',') : items
}

function parseJson(param: Param, text: string, fail: (expected: string) => BaxError): unknown {
  const { spelling, textField } = param
  if (textField && !/^\s*[[{"]/.test(text)) return { [textField]: text }
  const numbers = spelling ? text.split(spelling.separator).map(Number) : []
  if (spelling && numbers.length === spelling.fields.length && numbers.every(Number.isFinite)) {
    return Object.fromEntries(spelling.fields.map((field, at) => [field, numbers[at]]))
  }
  try {
    return JSON.parse(text)
  } catch {
    throw fail(spelling ? `${spelling.form} or JSON` : 'JSON')
  }
}
