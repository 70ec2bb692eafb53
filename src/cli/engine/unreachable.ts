import { BaxError } from '../../core/errors/errors.ts'

/** Whether nobody listens at the address, so that the call cannot have had an effect. */
export function isAbsent(error: unknown): boolean {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as NodeJS.ErrnoException
  return error instanceof BaxError && (code === 'ECONNREFUSED' || code === 'ENOENT')
}
