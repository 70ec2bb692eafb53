/** Limits of what browsers send: a message that takes long to parse would hold up everybody. */
import { excessOf } from '../../core/operation/json-extent.ts'
import { limits } from '../../core/limits/limits.ts'

const { messageBytes, messageValues } = limits.cdp

/** Shorter messages cannot hold too many values. */
const smallBytes = 2 * messageValues

/** Why a message is not parsed; undefined for one that is. */
export function messageExcess(bytes: Uint8Array, mostBytes: number = messageBytes): string | undefined {
  if (bytes.length > mostBytes) return `larger than ${Math.floor(mostBytes / 1024 / 1024)} MiB`
  if (bytes.length <= smallBytes) return undefined
  const isDense = excessOf(bytes, { depth: Infinity, values: messageValues }) !== undefined
  return isDense ? `of more than ${messageValues} values` : undefined
}

/** Number of the call that a message answers; undefined for an event. Browsers and connectors write it first. */
export function answeredId(message: Uint8Array): number | undefined {
  const head = Buffer.from(message.buffer, message.byteOffset, Math.min(message.length, 40)).toString('latin1')
  const id = /^\{"id":(\d+)[,}]/.exec(head)?.[1]
  return id === undefined ? undefined : Number(id)
}

/** Error code of an answer that is too large to be passed on. */
export const tooLargeCode = -32_005

/** Text of the error that replaces an answer. */
export const tooLargeAnswer = (id: number, excess: string): string =>
  JSON.stringify({ id, error: { code: tooLargeCode, message: `the answer is ${excess}` } })
