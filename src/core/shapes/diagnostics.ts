/** Shapes of a session's diagnostic data. */
import { z } from 'zod'
import { sessionEventTypes } from '../events/events.ts'

export const sessionLog = z
  .object({
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
  .meta({ id: 'SessionLog' })

export const traceAction = z.enum(['start', 'stop', 'discard'])

export const traceState = z
  .object({
    session_id: z.string(),
    tracing: z.boolean(),
    trace: z.string().optional().describe('Playwright trace as a zip file in base64; only after stop'),
  })
  .meta({ id: 'TraceState' })

export type SessionLog = z.output<typeof sessionLog>
export type TraceAction = z.output<typeof traceAction>
export type TraceState = z.output<typeof traceState>
