/** Holds a value of a script against a schema, and puts every fault where it was written. */
import type { z } from 'zod'
import { faultsOf, sentenceOf } from '../../../core/errors/input-errors.ts'
import { unknownFields } from '../../../core/operation/unknown-fields.ts'
import { type Path, pathOf } from './document.ts'
import type { FaultList } from './script-errors.ts'
import { holdsLater, later, pick } from './references.ts'

/** What to check, and how to find it in the document. */
export interface Checked {
  readonly schema: z.ZodType
  /** References that only the run can replace are `later` in it, and are not judged. */
  readonly value: unknown
  /** Place in the document of a place in the value. */
  readonly locate: (path: Path) => Path
}

/** Reports everything that is wrong with a value. */
export function checkValue({ schema, value, locate }: Checked, faults: FaultList): void {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    for (const fault of faultsOf(parsed.error)) {
      const path = pathOf(fault.path)
      if (dependsOnRun(value, path)) continue
      const missing = fault.message === 'is required'
      const at = locate(missing ? path.slice(0, -1) : path)
      if (missing) faults.addKey(at, sentenceOf(fault))
      else faults.add(at, sentenceOf(fault))
    }
  }
  for (const { path, hint } of unknownFields(schema, value)) {
    faults.addKey(locate(pathOf(path)), `${path} is not a known field${hint}`)
  }
}

/** Whether the value at the path, something in it, or something on the way to it comes only with the run. */
function dependsOnRun(value: unknown, path: Path): boolean {
  const picked = pick(value, path)
  if (picked.found) return holdsLater(picked.value)
  return picked.holder === later
}
