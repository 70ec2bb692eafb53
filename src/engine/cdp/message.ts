/** Messages of CDP clients and browsers, which are not trusted. */
import { limits } from '../../core/limits/limits.ts'
import { closeCodes, type Link } from '../../core/net/link.ts'
import type { CdpMessage } from './router.ts'

/** Parses a call of a client; undefined when it is invalid. */
export function readCall(text: string): CdpMessage | undefined {
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  const { id, method, params, sessionId } = value
  const isCall = typeof method === 'string' && (id === undefined || Number.isInteger(id))
  // An empty session ID would mean the browser's own session, which clients must not use.
  const hasSession = typeof sessionId === 'string' && sessionId !== ''
  const isValid = (params === undefined || isObject(params)) && (sessionId === undefined || hasSession)
  return isCall && isValid ? (value as CdpMessage) : undefined
}

/** Sends a message to a client, or closes the connection of a client that reads too slowly. */
export function sendToClient(link: Link, text: string | Buffer): void {
  if (link.buffered > limits.relay.channelBytes) link.close(closeCodes.slow, 'the client does not keep up')
  else link.sendText(text)
}

/** Parses a response or event of a browser, which is not trusted; undefined when it is invalid. */
export function readMessage(text: string): CdpMessage | undefined {
  const value = parseJson(text)
  return isMessage(value) ? value : undefined
}

/** Returns whether a value is a response or event with the fields that the engine relies on. */
export function isMessage(value: unknown): value is CdpMessage {
  if (!isObject(value)) return false
  const { id, method, params, result, error, sessionId } = value
  if (sessionId !== undefined && typeof sessionId !== 'string') return false
  const isError = isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
  // The error for an unreadable call has no ID.
  if (isError) return id === undefined || id === null || Number.isInteger(id)
  if (id !== undefined) return Number.isInteger(id) && error === undefined && (result === undefined || isObject(result))
  return typeof method === 'string' && (params === undefined || isObject(params)) && hasFields(method, params)
}

type Params = Readonly<Record<string, unknown>>

/** Required parameters of the events that the engine reads; Playwright handles the others. */
const eventChecks = new Map<string, (params: Params) => boolean>([
  [
    'Target.attachedToTarget',
    ({ sessionId, targetInfo }) =>
      isText(sessionId) &&
      isObject(targetInfo) &&
      ['targetId', 'type', 'url'].every((name) => isText(targetInfo[name])),
  ],
  ['Target.detachedFromTarget', ({ sessionId }) => isText(sessionId)],
  ['Page.downloadWillBegin', ({ guid }) => isText(guid)],
  ['Browser.downloadWillBegin', ({ guid }) => isText(guid)],
  ['Browser.downloadProgress', ({ guid, state }) => isText(guid) && isText(state)],
])

const hasFields = (method: string, params: Params = {}): boolean => eventChecks.get(method)?.(params) ?? true

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
