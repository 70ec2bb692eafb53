/** The flags of `bax serve` that say what a caller may have and do. */
import type { Allowance } from '../../core/access/quota.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Param } from '../../core/operation/params.ts'

const bound = (name: string, what: string, usual: number) =>
  ({
    name,
    type: 'integer',
    required: false,
    description: `${what} of one key, 0 for any number; ${usual} where keys are in use`,
  }) as const satisfies Param

const { caller } = limits

export const allowanceParams = {
  rate: bound('rate', 'requests a second', caller.rate),
  burst: {
    ...bound('burst', '', 0),
    description: `requests of one key that may come at once; ${caller.burst} where keys are in use`,
  },
  sessions: bound('max_sessions', 'browser sessions', caller.sessions),
  shells: bound('max_shells', 'shell sessions', caller.shells),
  crawls: bound('max_crawls', 'crawls at a time', caller.crawls),
} as const satisfies Record<keyof Allowance, Param>

/** What the operator wishes; the rest is as usual. @throws BaxError `invalid_request` that names the flag. */
export function readAllowance(read: (name: keyof typeof allowanceParams) => unknown): Partial<Allowance> {
  const wishes: Partial<Record<keyof Allowance, number>> = {}
  for (const name of Object.keys(allowanceParams) as (keyof Allowance)[]) {
    const value = read(name) as number | undefined
    if (value === undefined) continue
    const least = name === 'burst' ? 1 : 0
    if (value < least) {
      const flag = `--${allowanceParams[name].name.replaceAll('_', '-')}`
      throw new BaxError('invalid_request', `${flag} must be at least ${least}, not ${value}`)
    }
    wishes[name] = value
  }
  return wishes
}
