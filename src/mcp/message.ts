/** Messages as clients write them. */

/** Returns a message or batch without parameters that are null: some clients send `arguments: null` for none. */
export function withoutNulls(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(withoutNulls)
  if (!isRecord(message) || !('params' in message)) return message
  const { params, ...rest } = message
  if (params === null) return rest
  if (!isRecord(params)) return message
  return { ...rest, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Parses a message; returns undefined for invalid JSON, which the SDK refuses as such. */
export function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
