/** Shapes of a session's diagnostic data. */
import { z } from 'zod'
import { named } from './fields.ts'
import { sessionEventTypes } from '../events/events.ts'

export const sessionLog = named('SessionLog', {
  session_id: z.string(),
  events: z
    .array(
      z.object({
        seq: z.int(),
        ts: z.iso.datetime(),
        type: z.enum(sessionEventTypes),
        data: z.record(z.string(), z.unknown()),
      }),
    )
    .describe('Buffered events, oldest first: console, network, navigation, commands'),
  dropped: z.int().describe('Number of older events that were discarded'),
})

export const traceAction = z.enum(['start', 'stop', 'discard'])

export const traceState = named('TraceState', {
  session_id: z.string(),
  tracing: z.boolean(),
  trace: z.string().optional().describe('Playwright trace as a zip file in base64; only after stop'),
})

export type SessionLog = z.output<typeof sessionLog>
export type TraceAction = z.output<typeof traceAction>
export type TraceState = z.output<typeof traceState>
