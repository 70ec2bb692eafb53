import { BaxError } from '../../../core/errors/errors.ts'

/**
 * The result of `work`, unless it takes longer than `ms`; the work itself goes on.
 * @throws BaxError `timeout` saying `why`.
 */
export async function inTime<T>(work: Promise<T>, ms: number, why: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BaxError('timeout', why)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    // What fails after it was given up has nobody to tell.
    work.catch(() => {})
  }
}
