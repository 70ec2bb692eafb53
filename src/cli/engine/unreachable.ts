/** Checks for unreachable engines. */
import { BaxError } from '../../core/errors/errors.ts'

/** Checks if nothing listens at the address, so that the call had no effect. */
export function isUnreachable(error: unknown): boolean {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException
  return error instanceof BaxError && (code === 'ECONNREFUSED' || code === 'ENOENT')
}
