/** The HTTP response of a document in the browser. */
import { ResponseHeaders } from '../http/response-headers.ts'

export interface DocumentResponse {
  readonly requestId: string
  readonly url: string
  readonly status: number
  readonly headers: ResponseHeaders
  readonly mimeType: string
}

/** Reads the parameters of `Network.responseReceived`. */
export function documentResponse(params: Record<string, unknown>): DocumentResponse {
  const { url, status, headers, mimeType } = params['response'] as {
    url: string
    status: number
    headers: Record<string, string>
    mimeType: string
  }
  // Chromium joins values of repeated headers with line feeds.
  const allHeaders = new ResponseHeaders(
    Object.entries(headers).flatMap(([name, value]) => value.split('\n').map((one) => [name, one] as const)),
  )
  return { requestId: params['requestId'] as string, url, status, headers: allHeaders, mimeType }
}

export const isPage = (answer: DocumentResponse | undefined): boolean =>
  answer === undefined || /^(?:text\/html|application\/xhtml\+xml)$/i.test(answer.mimeType)

export const isAttachment = ({ headers }: DocumentResponse): boolean =>
  /^\s*attachment/i.test(headers.get('content-disposition') ?? '')
