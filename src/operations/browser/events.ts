import { z } from 'zod'
import { tokenOf } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { eventData, sessionEvent } from '../../core/shapes/events.ts'
import { defineStream } from '../../core/operation/stream.ts'
import { sessionId } from './sessions.ts'
import { opaqueText } from '../../core/shapes/text.ts'

const known = Object.keys(eventData)

export const sessionEvents = defineStream({
  summary: 'Follow the events of a session as they happen',
  description:
    'Server-sent events (or NDJSON with `Accept: application/x-ndjson`). `Last-Event-ID` or `since` resumes without a gap ' +
    'from the last 1000 events; `lagged` says how many are gone. lagged and session.closed come whatever `types` says. The stream ends after ' +
    'session.closed; an ended session answers 204.',
  http: 'GET /stream/sse',
  scope: 'browser',
  token: true,
  cli: 'session watch',
  example: 'bax session watch -s shop --types page.navigated,console',
  input: z.object({
    session_id: sessionId,
    token: opaqueText
      .optional()
      .describe('frame_token of the session; readers that can send headers may send it as `Authorization: Bearer`'),
    since: z.int().min(0).optional().describe('Number of the last event seen; the next ones follow'),
    replay: z.enum(['all']).optional().describe('all begins with every kept event'),
    types: z
      .array(z.string().max(limits.input.nameChars))
      .max(limits.input.names)
      .optional()
      .describe('Only these event types; frame (pictures of the page) comes only when it is named here'),
  }),
  frame: sessionEvent,
  errors: ['session_not_found', 'unauthorized'],
  mayBeOver: true,
  open: (engine, input, call) => {
    const unknown = input.types?.filter((type) => !known.includes(type)) ?? []
    if (unknown.length > 0) {
      const message = `types has no ${unknown.map((type) => JSON.stringify(type)).join(', ')}; there are ${known.join(', ')}`
      throw new BaxError('invalid_request', message, { details: [{ path: 'types', message: 'unknown event type' }] })
    }
    // A reader that comes back says what it has: its address still asks for everything.
    const since = call.since ?? input.since ?? (input.replay === 'all' ? 0 : undefined)
    const token = tokenOf(input.token, call) ?? undefined
    return engine.sessions.follow({ ...input, since, token }, call)
  },
})
