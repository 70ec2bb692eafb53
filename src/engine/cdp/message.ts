/** From what somebody has sent over CDP to a message whose shape the code behind it can rely on. */
import type { CdpMessage } from './router.ts'

/** The call that a text of a client holds; undefined for what is none, as for one whose parts are not of the protocol's kinds. */
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

/** The answer or event that a text of a browser holds; undefined for what is none: it may be anybody who poses as one. */
export function readMessage(text: string): CdpMessage | undefined {
  const value = parsed(text)
  return isMessage(value) ? value : undefined
}

/** Whether it is an answer or an event, with the parts that others rely on. */
export function isMessage(value: unknown): value is CdpMessage {
  if (!isObject(value)) return false
  const { id, method, params, result, error, sessionId } = value
  if (sessionId !== undefined && typeof sessionId !== 'string') return false
  const isFault = isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
  // Of a call that it could not read, a browser does not know the number either.
  if (isFault) return id === undefined || id === null || Number.isInteger(id)
  if (id !== undefined) return Number.isInteger(id) && error === undefined && (result === undefined || isObject(result))
  return typeof method === 'string' && (params === undefined || isObject(params)) && hasParts(method, params)
}

type Parts = Readonly<Record<string, unknown>>

/** What has to be in the parameters of events that are looked into here; others are Playwright's to understand. */
const partsOf = new Map<string, (params: Parts) => boolean>([
  [
    'Target.attachedToTarget',
    ({ sessionId, targetInfo }) => isText(sessionId) && isObject(targetInfo) && ['targetId', 'type', 'url'].every((name) => isText(targetInfo[name])), // prettier-ignore
  ],
  ['Target.detachedFromTarget', ({ sessionId }) => isText(sessionId)],
  ['Page.downloadWillBegin', ({ guid }) => isText(guid)],
  ['Browser.downloadProgress', ({ guid, state }) => isText(guid) && isText(state)],
])

const hasParts = (method: string, params: Parts = {}): boolean => partsOf.get(method)?.(params) ?? true

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
