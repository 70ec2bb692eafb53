/** Limits of messages from browsers, since parsing a large message would block all sessions. */
import { exceededLimit } from '../../core/operation/json-extent.ts'
import { limits } from '../../core/limits/limits.ts'

const { messageBytes, messageValues } = limits.cdp

/** Messages up to this size cannot contain too many values. */
const smallBytes = 2 * messageValues

/** Returns how a message exceeds the limits; undefined when it may be parsed. */
export function messageExcess(bytes: Uint8Array, maxBytes: number = messageBytes): string | undefined {
  if (bytes.length > maxBytes) return `larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB`
  if (bytes.length <= smallBytes) return undefined
  const isDense = exceededLimit(bytes, { depth: Infinity, values: messageValues }) !== undefined
  return isDense ? `of more than ${messageValues} values` : undefined
}

/** Returns the ID of the call that a message answers, undefined for events. Browsers and connectors write it first. */
export function answeredId(message: Uint8Array): number | undefined {
  const head = Buffer.from(message.buffer, message.byteOffset, Math.min(message.length, 40)).toString('latin1')
  const id = /^\{"id":(\d+)[,}]/.exec(head)?.[1]
  return id === undefined ? undefined : Number(id)
}

/** Error code of a response that is too large. */
export const tooLargeCode = -32_005

/** Builds the error response that replaces an oversized response. */
export const tooLargeAnswer = (id: number, excess: string): string =>
  JSON.stringify({ id, error: { code: tooLargeCode, message: `the response is ${excess}` } })
