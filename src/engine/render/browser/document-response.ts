/** The HTTP response of a document in the browser. */
import { AnswerHeaders } from '../http/response-headers.ts'

export interface DocumentAnswer {
  readonly requestId: string
  readonly url: string
  readonly status: number
  readonly headers: AnswerHeaders
  readonly mimeType: string
}

/** Reads the parameters of `Network.responseReceived`. */
export function answerOf(params: Record<string, unknown>): DocumentAnswer {
  const { url, status, headers, mimeType } = params['response'] as {
    url: string
    status: number
    headers: Record<string, string>
    mimeType: string
  }
  // Chromium joins values of repeated headers with line feeds.
  const allHeaders = new AnswerHeaders(
    Object.entries(headers).flatMap(([name, value]) => value.split('\n').map((one) => [name, one] as const)),
  )
  return { requestId: params['requestId'] as string, url, status, headers: allHeaders, mimeType }
}

export const isPage = (answer: DocumentAnswer | undefined): boolean =>
  answer === undefined || /^(?:text\/html|application\/xhtml\+xml)$/i.test(answer.mimeType)

export const isAttachment = ({ headers }: DocumentAnswer): boolean =>
  /^\s*attachment/i.test(headers.get('content-disposition') ?? '')
