/** Proves to gateways that answers are those of a worker. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { AppContext, AppEnv } from '../request/env.ts'
import { outgoingOf } from '../request/requests.ts'
import { answerHeader, forwardedHeader, type ForwardedVerifier, type Refusal, refusedHeader } from './signed-caller.ts'

/** Adds the proof when the status is known. A header that is set by Hono afterwards would copy the response. */
export const signAnswers =
  (verifier: Pick<ForwardedVerifier, 'answer'>): MiddlewareHandler<AppEnv> =>
  (context, next) => {
    const outgoing = outgoingOf(context.env)
    const header = context.req.header(forwardedHeader) ?? null
    if (!outgoing) return next()
    const writeHead = outgoing.writeHead.bind(outgoing)
    outgoing.writeHead = (status: number, ...rest: readonly unknown[]): ServerResponse => {
      const answer = verifier.answer(header, status, context.get('refusal'))
      if (answer !== undefined) outgoing.setHeader(answerHeader, answer)
      return writeHead(status, ...(rest as [OutgoingHttpHeaders?]))
    }
    return next()
  }

/** Reports to the gateway that the request was not run. */
export function refuse(context: AppContext, refusal: Refusal): void {
  context.set('refusal', refusal)
  context.header(refusedHeader, refusal)
}
