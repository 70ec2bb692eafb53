/** Choice of the positional form that values without a name are given in. Without zod, to start fast. */
import { fileOrElement } from '../text/file-word.ts'
import type { PositionalForms } from './command.ts'
import type { Param } from './params.ts'

type Form = PositionalForms[number]

/** Returns the forms of a command: the declared ones, then its required fields in order. */
export function formsOf(params: readonly Param[], declared: PositionalForms = []): PositionalForms {
  const required = params.flatMap((param) => (param.required ? [param.name] : []))
  const isDeclared = declared.some((form) => form.join() === required.join())
  return isDeclared ? declared : [...declared, required]
}

/**
 * Returns the arguments of a command in code: its required fields, and those that the terminal takes behind them, of
 * which an object with other fields can take the place.
 */
export function argumentsOf(params: readonly Param[], [typed = []]: PositionalForms = []) {
  const required = params.flatMap((param) => (param.required ? [param.name] : []))
  // Forms without required fields are chosen by their values.
  const isTyped = required.length > 0 && required.every((name, at) => typed[at] === name)
  return { required, positional: isTyped ? typed : required }
}

/**
 * Returns the first form that fits the values by number and type, else the first by number. A list as the last field
 * takes all remaining values. Values are text of a command line, or values of a script.
 */
export function formFor(
  forms: PositionalForms,
  values: readonly unknown[],
  params: readonly Param[],
): Form | undefined {
  const typeOf = (field: string | undefined) => params.find(({ name }) => name === field)
  const isVariadic = (form: Form) => typeOf(form.at(-1))?.type === 'string[]'
  const matching = forms.filter((form) =>
    isVariadic(form) ? values.length >= form.length : values.length === form.length,
  )
  const fitting = matching.find((form) => form.every((field, at) => fits(typeOf(field), values[at])))
  return fitting ?? matching[0]
}

/** Returns the error of a positional value that names an element, where a file is written; undefined for others. */
export function elementAsFile({ writes }: Param, value: unknown): string | undefined {
  if (!writes || typeof value !== 'string' || fileOrElement(value) !== 'element') return undefined
  return `${JSON.stringify(value)} is a selector, not the path of a file: write ./${value} for a file of this name`
}

/** Returns whether a field can have a value. Only fields with a recognizable form are checked. */
function fits(param: Param | undefined, value: unknown): boolean {
  if (!param) return true
  const isText = typeof value === 'string'
  const { type, choices, spelling, writes } = param
  // A reference of a script can have any value; with other text around it, the value is text.
  if (isText && /^\$\{[^}]*\}$/.test(value)) return true
  if (writes) return isText && fileOrElement(value) === 'file'
  if (isText && value.includes('${')) return type !== 'boolean'
  if (choices) return choices.includes(String(value))
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'number' || type === 'integer')
    return typeof value === 'number' || (isText && /^-?\d+(?:\.\d+)?$/.test(value))
  if (spelling && isText) {
    const parts = value.split(spelling.separator)
    return (
      value.startsWith('{') ||
      (parts.length === spelling.fields.length &&
        parts.every((part) => part.trim() !== '' && Number.isFinite(Number(part))))
    )
  }
  return type !== 'string' || isText || typeof value === 'number'
}
