/** Proves to gateways that answers are those of a worker, and that their content is, unless it is a stream. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { MiddlewareHandler } from 'hono'
import type { AppContext, AppEnv } from '../request/env.ts'
import { outgoingOf } from '../request/requests.ts'
import { bodyHash } from './signed-body.ts'
import {
  answerHeader,
  contentHeader,
  forwardedHeader,
  type ForwardedVerifier,
  type Refusal,
  refusedHeader,
} from './signed-caller.ts'

/** Adds the proof when the status is known. A header that is set by Hono afterwards would copy the response. */
export const signAnswers =
  (verifier: Pick<ForwardedVerifier, 'answer'>): MiddlewareHandler<AppEnv> =>
  (context, next) => {
    const outgoing = outgoingOf(context.env)
    const header = context.req.header(forwardedHeader) ?? null
    if (outgoing) {
      onHead(outgoing, (status, content) => {
        const answer = verifier.answer(header, status, { refusal: context.get('refusal'), content })
        if (answer === undefined) return
        outgoing.setHeader(answerHeader, answer)
        if (content !== undefined) outgoing.setHeader(contentHeader, content)
      })
    }
    return next()
  }

/**
 * Calls `prepare` before the head of a response is sent, with the digest of its content if that is sent in one piece: the
 * head waits until it is known whether there is more.
 */
function onHead(outgoing: ServerResponse, prepare: (status: number, content?: string) => void): void {
  const writeHead = outgoing.writeHead.bind(outgoing)
  const [write, end, flushHeaders] = [outgoing.write, outgoing.end, outgoing.flushHeaders].map((method) =>
    (method as (...args: readonly unknown[]) => unknown).bind(outgoing),
  ) as [Method, Method, Method]
  let head: ((content?: string) => void) | undefined
  const send = (content?: string) => {
    // Node would send a head of its own.
    if (!head && !outgoing.headersSent) outgoing.writeHead(outgoing.statusCode)
    head?.(content)
  }
  outgoing.writeHead = (status: number, ...rest: readonly unknown[]): ServerResponse => {
    head = (content) => {
      head = undefined
      prepare(status, content)
      writeHead(status, ...(rest as [OutgoingHttpHeaders?]))
    }
    return outgoing
  }
  const withHead =
    (method: Method, contentOf: (chunk: unknown) => string | undefined): Method =>
    (...args) => {
      send(contentOf(args[0]))
      return method(...args)
    }
  Object.assign(outgoing, {
    write: withHead(write, () => undefined),
    end: withHead(end, (chunk) =>
      bodyHash()
        .update(isContent(chunk) ? chunk : '')
        .digest('base64url'),
    ),
    flushHeaders: withHead(flushHeaders, () => undefined),
  })
}

type Method = (...args: readonly unknown[]) => unknown

/** The first argument of `end` may also be a callback. */
const isContent = (chunk: unknown): chunk is string | Uint8Array =>
  typeof chunk === 'string' || chunk instanceof Uint8Array

/** Reports to the gateway that the request was not run. */
export function refuse(context: AppContext, refusal: Refusal): void {
  context.set('refusal', refusal)
  context.header(refusedHeader, refusal)
}
