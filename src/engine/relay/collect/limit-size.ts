/** Limits the size of event records (`spec: relay 6`). */
import { limits } from '../../../core/limits/limits.ts'
import type { NewEvent } from '../events/buffer.ts'

/** Returns the event with long texts and URLs truncated; sets `truncated` if anything was cut. */
export function limitSize(event: NewEvent): NewEvent {
  let cut = false
  const shorten = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      // Bodies have their own limit.
      if (name === 'body') return value
      const maxChars = name === 'url' || name === 'location' ? limits.relay.urlChars : limits.relay.textChars
      if (value.length <= maxChars) return value
      cut = true
      return value.slice(0, maxChars)
    }
    if (Array.isArray(value)) return value.map((inner) => shorten(inner, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner, key)]))
  }
  let data = shorten(event.data, '') as Record<string, unknown>
  // Drop the largest fields until the record fits.
  const { body, ...rest } = data
  data = rest
  while (JSON.stringify(data).length > limits.relay.recordChars) {
    const size = (value: unknown) => JSON.stringify(value)?.length ?? 0
    const [largest] = Object.entries(data).toSorted(([, one], [, other]) => size(other) - size(one))[0]!
    data = Object.fromEntries(Object.entries(data).filter(([name]) => name !== largest))
    cut = true
  }
  if (typeof body === 'string') data['body'] = body
  return { ...event, data, ...(cut && { truncated: true as const }) }
}
