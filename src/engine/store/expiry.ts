/** Parses expiry times: a duration from now, or a point in time. */
import { BaxError } from '../../core/errors/errors.ts'

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** Latest date with a four-digit year. */
const latest = Date.parse('9999-12-31T23:59:59Z')

/** Returns milliseconds since 1970. @throws BaxError `invalid_request` for invalid and for past times. */
export function endOf(text: string, now: number): number {
  const [, count, unit] = /^(\d+)([smhdw])$/.exec(text.trim()) ?? []
  const end = unit === undefined ? parseTime(text.trim()) : now + Number(count) * units[unit as keyof typeof units]
  if (end > now && end <= latest) return end
  throw invalid(end <= now ? 'is in the past' : 'is neither a duration such as 30d nor an ISO 8601 time')
}

/** Parses a point in time, NaN if invalid; a date without a time ends with that day, in UTC. */
function parseTime(text: string): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Date.parse(text) + units.d
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
}

const invalid = (message: string): BaxError =>
  new BaxError('invalid_request', `expires ${message}`, { details: [{ path: 'expires', message }] })
