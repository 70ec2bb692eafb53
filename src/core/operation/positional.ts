/** Choice of the positional form that values without a name are given in. Without zod, to start fast. */
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

/** Returns whether a field can have a value. Only fields with a recognizable form are checked. */
function fits(param: Param | undefined, value: unknown): boolean {
  if (!param) return true
  const isText = typeof value === 'string'
  // A reference of a script can have any value.
  if (isText && value.includes('${')) return true
  const { type, choices, spelling } = param
  if (choices) return choices.includes(String(value))
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'number' || type === 'integer')
    return typeof value === 'number' || (isText && /^-?\d+(?:\.\d+)?$/.test(value))
  if (spelling && isText) {
    const parts = value.split(spelling.separator)
    return value.startsWith('{') || (parts.length === spelling.fields.length && parts.every((part) => part.trim() !== '' && Number.isFinite(Number(part)))) // prettier-ignore
  }
  return type !== 'string' || isText || typeof value === 'number'
}
