/** Validates values of a script with a schema, and reports each error at its position in the document. */
import type { z } from 'zod'
import { fieldErrorsOf, formatFieldError } from '../../../core/errors/input-errors.ts'
import { unknownFields } from '../../../core/operation/input/unknown-fields.ts'
import { type Path, pathOf } from './document.ts'
import type { ScriptErrorList } from './script-errors.ts'
import { hasPlaceholder, isPlaceholder, pick } from './references.ts'

/**
 * Reports all errors of a value. Parts of it that only the run can resolve are placeholders, which are not checked.
 * `locate` converts a path in the value to a path in the document.
 */
export function checkValue(
  schema: z.ZodType,
  value: unknown,
  errors: ScriptErrorList,
  locate: (path: Path) => Path = (path) => path,
): void {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    for (const error of fieldErrorsOf(parsed.error)) {
      const path = pathOf(error.path)
      if (dependsOnRun(value, path)) continue
      const missing = error.message === 'is required'
      const at = locate(missing ? path.slice(0, -1) : path)
      if (missing) errors.addKey(at, formatFieldError(error))
      else errors.add(at, formatFieldError(error))
    }
  }
  for (const { path, hint } of unknownFields(schema, value)) {
    const at = locate(pathOf(path))
    errors.addKey(at, errors.misplaced(at) ?? `${path} is not a known field${hint}`)
  }
}

/** Whether the value at the path, a part of it, or one of its parents is known only at run time. */
function dependsOnRun(value: unknown, path: Path): boolean {
  const picked = pick(value, path)
  return picked.found ? hasPlaceholder(picked.value) : isPlaceholder(picked.holder)
}
