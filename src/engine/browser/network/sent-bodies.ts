/** Bodies that pages send: Playwright keeps those of thousands of requests, so large ones do not reach it. */
import { limits } from '../../../core/limits/limits.ts'
import type { CdpMessage } from '../../cdp/router.ts'

interface SentRequest {
  readonly postData?: string
  readonly postDataEntries?: readonly { readonly bytes?: string }[]
}

const methods: ReadonlySet<string> = new Set(['Network.requestWillBeSent', 'Fetch.requestPaused'])

/** Returns the message, without a sent body that exceeds the limit. */
export function withoutLargeBody(message: CdpMessage): CdpMessage {
  if (!methods.has(message.method ?? '')) return message
  const request = message.params?.['request'] as SentRequest | undefined
  const { postData = '', postDataEntries = [] } = request ?? {}
  const chars = postDataEntries.reduce((sum, { bytes = '' }) => sum + bytes.length, postData.length)
  if (chars <= limits.network.sentBodyChars) return message
  const { postData: _, postDataEntries: __, ...rest } = request as SentRequest
  return { ...message, params: { ...message.params, request: rest } }
}
