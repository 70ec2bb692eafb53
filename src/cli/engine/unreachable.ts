/** Checks for unreachable engines. */
import { BaxError } from '../../core/errors/errors.ts'
import { systemCode } from '../../core/errors/system-errors.ts'

/** Checks if nothing listens at the address, so that the call had no effect. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof BaxError)) return false
  const code = systemCode(error.cause)
  return code === 'ECONNREFUSED' || code === 'ENOENT'
}
