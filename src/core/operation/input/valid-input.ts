/** Validates the input of an operation. */
import type { z } from 'zod'
import { BaxError, type FieldError, truncate } from '../../errors/errors.ts'
import { fieldErrorsOf, formatFieldError } from '../../errors/input-errors.ts'
import { limits } from '../../limits/limits.ts'
import { rememberNames, renameAliases, writtenPath } from './given-fields.ts'
import { notesOn } from './notes.ts'
import { restricts } from './security-fields.ts'
import { unknownFields } from './unknown-fields.ts'

/** The validated input, and a warning about ignored unknown fields, and about values that have no full effect. */
export interface ParsedInput {
  readonly input: Record<string, unknown>
  readonly warning?: string
}

/**
 * Validates fields. Optional ones may be null, and errors name fields as the caller wrote them. Unknown ones are errors if
 * `strict`, if the request has a security field, or if they seem to be one.
 * @throws BaxError `invalid_request`
 */
export function validateInput(schema: z.ZodObject, fields: Record<string, unknown>, strict: boolean): ParsedInput {
  const raw = renameAliases(schema, fields) as Record<string, unknown>
  const parsed = schema.safeParse(raw)
  const unknown = unknownFields(schema, raw)
  const isRestricted = Object.keys(schema.shape).some((name) => restricts(name, raw[name]))
  const refused = strict || isRestricted ? unknown : unknown.filter(({ isSecurity }) => isSecurity)
  const faults = [
    ...(parsed.success ? [] : fieldErrorsOf(parsed.error, (path) => writtenPath(raw, path))),
    ...refused.map(({ path: at, hint }) => ({ path: at, message: `is not a known field${hint}` })),
  ].map(shortenFault)
  if (!parsed.success || faults.length > 0) {
    throw new BaxError('invalid_request', joinFirst(faults.map(formatFieldError), '; '), {
      details: faults.slice(0, limits.input.faults),
    })
  }
  rememberNames(parsed.data, raw)
  const warnings = notesOn(schema, parsed.data)
  if (unknown.length === 0) return { input: parsed.data, ...(warnings.length > 0 && { warning: warnings.join('; ') }) }
  const names = joinFirst(
    unknown.map(({ path: at, hint }) => truncate(at, limits.input.faultChars) + hint),
    ', ',
  )
  return {
    input: parsed.data,
    warning: [`ignored unknown ${unknown.length === 1 ? 'field' : 'fields'}: ${names}`, ...warnings].join('; '),
  }
}

/** Shortens names and values, which can have any length in a request. */
const shortenFault = ({ path, message }: FieldError): FieldError => ({
  path: truncate(path, limits.input.faultChars),
  message: truncate(message, limits.input.faultChars),
})

/** Joins the first `limits.input.faults` texts. */
function joinFirst(texts: readonly string[], separator: string): string {
  const more = texts.length - limits.input.faults
  const shown = more > 0 ? [...texts.slice(0, limits.input.faults), `and ${more} more`] : texts
  return shown.join(separator)
}
