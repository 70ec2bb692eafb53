/** Ends as people write them: a length from now, or a moment. */
import { BaxError } from '../../core/errors/errors.ts'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** A date beyond this cannot be written in four digits of a year. */
const latest = Date.parse('9999-12-31T23:59:59Z')

/** Milliseconds since 1970. @throws BaxError `invalid_request` for what is neither, and for what has been. */
export function endOf(text: string, now: number): number {
  const [, count, unit] = /^(\d+)([smhdw])$/.exec(text.trim()) ?? []
  const end = unit === undefined ? momentOf(text.trim()) : now + Number(count) * units[unit as keyof typeof units]
  if (end > now && end <= latest) return end
  throw fault(end <= now ? 'is over already' : 'is neither a length such as 30d nor a moment in ISO 8601')
}

/** NaN for what is no moment; a day without a time ends when it does, in UTC. */
function momentOf(text: string): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Date.parse(text) + units.d
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
}

const fault = (message: string): BaxError =>
  new BaxError('invalid_request', `expires ${message}`, { details: [{ path: 'expires', message }] })
