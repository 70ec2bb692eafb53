/** Shapes of handoffs: a caller asks a person to do something in a session. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { duration, named, printable, urlText } from '../shapes/fields.ts'
import { full, pageChanges } from '../shapes/page-changes.ts'

/** Ends of a handoff. */
const outcomes = {
  returned: 'the person has finished',
  met: 'the condition holds',
  declined: 'the person cannot do it',
  expired: 'nobody has finished in time',
  withdrawn: 'the caller no longer needs it',
} as const

export type HandoffOutcome = keyof typeof outcomes

const { handoffs } = limits

export const handoffInput = {
  reason: printable(handoffs.reasonChars).min(1).describe('What the person has to do, shown to them in the live view'),
  until: printable(handoffs.untilChars)
    .regex(/^(?:url|text):./, { error: 'must be url: and a glob, or text: and a text of the page' })
    .optional()
    .describe('Condition that ends it without the person: url:GLOB or text:TEXT of the active tab'),
  timeout_secs: duration(1, handoffs.maxTimeoutSecs)
    .default(handoffs.timeoutSecs)
    .describe('Time for the person, in seconds'),
  notify: urlText.optional().describe('URL that receives a signed POST request for each event of the handoff'),
}

export const handoffWait = duration(0, handoffs.maxWaitSecs)
  .default(0)
  .describe('Time to wait for its end before the response, in seconds')

export const declineMessage = printable(handoffs.messageChars)

const isoTime = z.iso.datetime().describe('ISO 8601 UTC with milliseconds')

/** Changes of the page while a person had control, without the text that the person typed. */
const handoffChange = z.object({
  url: z.string().describe('URL of the active tab'),
  title: z.string(),
  changes: pageChanges.nullable().describe('Differences to the page before; null if it could not be observed'),
  full: full.optional(),
  snapshot: z.string().optional().describe('Beginning of a new page, as in an observation'),
  warning: z.string().optional(),
})

export const handoffRecord = named('Handoff', {
  handoff_id: z.string(),
  session_id: z.string(),
  session_name: z.string().nullable(),
  reason: z.string(),
  until: z.string().nullable(),
  status: z.enum(['waiting', 'active', ...(Object.keys(outcomes) as HandoffOutcome[])]).describe(
    `waiting: nobody has control; active: a person has; ${Object.entries(outcomes)
      .map(([status, meaning]) => `${status}: ${meaning}`)
      .join('; ')}`,
  ),
  control_url: z
    .string()
    .nullable()
    .describe('Page for one person, who can open it once; null when it was opened, and after the end'),
  message: z.string().nullable().describe('Sentence of a person who declined'),
  change: handoffChange.nullable().describe('What has changed; null before the end'),
  created_at: isoTime,
  expires_at: isoTime,
  ended_at: isoTime.nullable(),
  warning: z.string().optional().describe('Why a request to `notify` failed or was not signed'),
})

export const handoffList = z.object({ handoffs: z.array(handoffRecord), total: z.int() })

const id = { handoff_id: z.string() }

/** Events of a session about handoffs. */
export const handoffEvents = {
  'handoff.requested': z
    .object({ ...id, reason: z.string(), until: z.string().nullable(), expires_at: isoTime })
    .describe('A person is asked to take over: `bax handoff`'),
  'handoff.taken': z
    .object(id)
    .describe('A person has taken control for it; events of pages have no texts and URLs until they return it'),
  'handoff.returned': z.object({ ...id, status: z.enum(['returned', 'met']) }),
  'handoff.declined': z.object({ ...id, message: z.string().nullable() }),
  'handoff.expired': z.object(id),
  'handoff.withdrawn': z.object(id),
}

export type HandoffRecord = z.output<typeof handoffRecord>
export type HandoffList = z.output<typeof handoffList>
export type HandoffChange = z.output<typeof handoffChange>
export interface HandoffInput {
  readonly session_id: string
  readonly reason: string
  readonly until?: string | undefined
  readonly timeout_secs: number
  readonly notify?: string | undefined
}
