/** The answer that a document of a browser came from. */
import { AnswerHeaders } from '../http/response-headers.ts'

export interface DocumentAnswer {
  readonly requestId: string
  readonly url: string
  readonly status: number
  readonly headers: AnswerHeaders
  readonly mimeType: string
}

/** From the parameters of `Network.responseReceived`. */
export function answerOf(params: Record<string, unknown>): DocumentAnswer {
  const { url, status, headers, mimeType } = params['response'] as {
    url: string
    status: number
    headers: Record<string, string>
    mimeType: string
  }
  // Values of several headers of one name come joined by line feeds.
  const known = new AnswerHeaders(
    Object.entries(headers).flatMap(([name, value]) => value.split('\n').map((one) => [name, one] as const)),
  )
  return { requestId: params['requestId'] as string, url, status, headers: known, mimeType }
}

/** Whether a browser shows the answer as a page of HTML. */
export const isPage = (answer: DocumentAnswer | undefined): boolean =>
  answer === undefined || /^(?:text\/html|application\/xhtml\+xml)$/i.test(answer.mimeType)

/** Whether the answer is to be saved rather than shown. */
export const isAttachment = ({ headers }: DocumentAnswer): boolean =>
  /^\s*attachment/i.test(headers.get('content-disposition') ?? '')
