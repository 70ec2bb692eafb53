/** From what a client of CDP has sent to a message whose shape the checks behind it can rely on. */
import type { CdpMessage } from './router.ts'

/** The call that a text holds; undefined for what is none, as for one whose parts are not of the protocol's kinds. */
export function readCall(text: string): CdpMessage | undefined {
  const value = parsed(text)
  if (!isObject(value)) return undefined
  const { id, method, params, sessionId } = value
  const isCall = typeof method === 'string' && (id === undefined || Number.isInteger(id))
  // To a browser an empty name means its own session, which is nobody's.
  const hasSession = typeof sessionId === 'string' && sessionId !== ''
  const isWhole = (params === undefined || isObject(params)) && (sessionId === undefined || hasSession)
  return isCall && isWhole ? (value as CdpMessage) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
