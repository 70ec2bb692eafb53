/** Data shapes of what a session tells about itself for the search of a fault. */
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
      .describe('Kept events, oldest first: console, network, navigation, commands'),
    dropped: z.int().describe('How many older ones are no longer kept'),
  })
  .meta({ id: 'SessionLog' })

export const traceAction = z.enum(['start', 'stop', 'discard'])

export const traceState = z
  .object({
    session_id: z.string(),
    tracing: z.boolean(),
    trace: z.string().optional().describe("Playwright's trace as a zip, base64; after stop"),
  })
  .meta({ id: 'TraceState' })

export type SessionLog = z.output<typeof sessionLog>
export type TraceAction = z.output<typeof traceAction>
export type TraceState = z.output<typeof traceState>
