/** Describes invalid input in sentences that name the field. Shared by HTTP, scripts and configuration. */
import type { z } from 'zod'
import type { FieldError } from './errors.ts'

type Issue = z.core.$ZodIssue

/** Converts the path of a field for the reader. */
type PathNames = (path: readonly PropertyKey[]) => readonly PropertyKey[]

/** Lists all errors of a failed parse, in the order of the schema. */
export function fieldErrorsOf(error: z.ZodError, names: PathNames = (path) => path): FieldError[] {
  return error.issues.flatMap((issue) => fieldErrorsOfIssue(issue, names))
}

/** Formats one field error: `url is required`, `limit must be at most 100`. */
export function formatFieldError({ path, message }: FieldError): string {
  if (!path) return message
  return /^(is|must|has|cannot) /.test(message) ? `${path} ${message}` : `${path}: ${message}`
}

/** Converts an issue; a union that did not match reports the errors of its closest branch. */
function fieldErrorsOfIssue(issue: Issue, names: PathNames): FieldError[] {
  const [nearest] = issue.code === 'invalid_union' ? issue.errors.toSorted((a, b) => farness(a) - farness(b)) : []
  if (nearest) {
    return nearest.flatMap((inner) =>
      fieldErrorsOfIssue({ ...inner, path: [...issue.path, ...inner.path] } as Issue, names),
    )
  }
  return [{ path: pathText(names(issue.path)), message: messageOf(issue) }]
}

/** Returns how far a value is from one branch of a union, by its errors: it has another type or tag, or wrong fields. */
export function farness(issues: readonly Issue[]): number {
  const isOther = ({ code, path }: Issue) =>
    (path.length === 0 && code === 'invalid_type') || (path.length <= 1 && code === 'invalid_value')
  return issues.reduce((sum, issue) => sum + (isOther(issue) ? 100 : 1), 0)
}

/** Formats a path: `commands[1].data.selector`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text ? `${text}.${String(part)}` : String(part)
  }, '')
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function messageOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      // zod omits the input from the issue; its message tells whether there was one.
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'too_small':
      return smallest(issue)
    case 'too_big':
      return largest(issue)
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'invalid_format':
      return issue.format === 'regex' ? issue.message : `must be a valid ${issue.format.toUpperCase()}`
    default:
      return issue.message
  }
}

function smallest({ origin, minimum }: z.core.$ZodIssueTooSmall): string {
  if (origin === 'string' || origin === 'array')
    return minimum === 1
      ? 'must not be empty'
      : `must have at least ${minimum} ${origin === 'string' ? 'characters' : 'items'}`
  return `must be at least ${minimum}`
}

function largest({ origin, maximum }: z.core.$ZodIssueTooBig): string {
  if (origin === 'string') return `must have at most ${maximum} characters`
  if (origin === 'array') return `must have at most ${maximum} items`
  return `must be at most ${maximum}`
}
