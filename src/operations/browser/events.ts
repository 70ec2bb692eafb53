import { z } from 'zod'
import { tokenOf } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { eventData, sessionEvent } from '../../core/shapes/events.ts'
import { defineStream } from '../../core/operation/operation.ts'
import { sessionId } from './sessions.ts'
import { listOf, opaqueText } from '../../core/shapes/fields.ts'

const known = Object.keys(eventData)

export const sessionEvents = defineStream({
  summary: 'Follow the events of a session',
  description:
    'Server-sent events (or NDJSON with `Accept: application/x-ndjson`). `Last-Event-ID` or `since` resumes without a gap ' +
    'from the last 1000 events; `lagged` reports the number of lost ones. lagged and session.closed are sent regardless ' +
    'of `types`. The stream ends after session.closed; the response is 204 for an ended session.',
  http: 'GET /stream/sse',
  scope: 'browser',
  token: true,
  cli: 'session watch',
  example: 'bax session watch -s shop --types page.navigated,console',
  input: z.object({
    session_id: sessionId,
    token: opaqueText.optional().describe('frame_token of the session; may also be sent as `Authorization: Bearer`'),
    since: z.int().min(0).optional().describe('Number of the last received event, after which to continue'),
    replay: z.enum(['all']).optional().describe('all: start with all buffered events'),
    types: listOf(z.string().max(limits.input.nameChars))
      .optional()
      .describe('Event types to send, all except frame when omitted; frame sends screenshots of the page'),
  }),
  frame: sessionEvent,
  errors: ['session_not_found', 'unauthorized'],
  mayHaveEnded: true,
  open: (engine, input, call) => {
    const unknown = input.types?.filter((type) => !known.includes(type)) ?? []
    if (unknown.length > 0) {
      const message = `types contains unknown ${unknown.map((type) => JSON.stringify(type)).join(', ')}; known types are ${known.join(', ')}`
      throw new BaxError('invalid_request', message, { details: [{ path: 'types', message: 'unknown event type' }] })
    }
    // After a reconnect, Last-Event-ID takes precedence: the URL still has the original parameters.
    const since = call.since ?? input.since ?? (input.replay === 'all' ? 0 : undefined)
    const token = tokenOf(input.token, call) ?? undefined
    return engine.sessions.follow({ ...input, since, token }, call)
  },
})
