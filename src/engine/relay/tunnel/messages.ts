/** Validates control messages of the tunnel, except those for channels (`spec: relay 8`). */
import { z } from 'zod'
import { BaxError } from '../../../core/errors/errors.ts'
import { relayEvent, relayRecord, relayTarget } from '../../../core/shapes/relay.ts'
import { relayPolicies } from '../../../core/relay-names.ts'
import type { Control } from './tunnel.ts'

/** Version of the protocol, which must be the same on both sides; any change of a message increases it. */
export const protocol = '1.2'
export const subprotocol = 'bax.relay.v1'

const target = relayTarget.omit({ active: true })

const hello = z.object({
  type: z.literal('hello'),
  proto: z.string(),
  version: z.string(),
  platform: z.string(),
  name: z.string().max(100).nullable(),
  policy: z.enum(relayPolicies),
  /** False if the user has turned off redaction of collected events. */
  redact: z.boolean(),
  browser: relayRecord.shape.browser.unwrap(),
  /** Secret of the session to resume. */
  resume: z.string().optional(),
})

const events = z.object({
  type: z.literal('events'),
  /** Number of the first event of the batch, as counted by the connector; the others follow without gaps. */
  cseq: z.int().min(1),
  batch: z.array(relayEvent.omit({ seq: true, received_at: true }).extend({ type: z.string().max(200) })),
  /** Events dropped since the connector started, by kind. */
  dropped: z.object({ console: z.int(), network: z.int(), page: z.int(), cdp: z.int() }),
})

export const fromConnector = z.discriminatedUnion('type', [
  hello,
  events,
  z.object({ type: z.literal('targets'), targets: z.array(target), active: z.string().nullable() }),
  z.object({ type: z.literal('browser'), state: z.enum(['lost', 'back']), cause: z.string().optional() }),
  z.object({ type: z.literal('pong'), at: z.number() }),
  z.object({ type: z.literal('bye'), reason: z.enum(['stopped', 'browser_closed']) }),
])

export const fromEngine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    proto: z.string(),
    session_id: z.string(),
    resume: z.string(),
    heartbeat_ms: z.number().min(10),
    /** Number of the newest event that the engine has received. */
    acked: z.int(),
  }),
  z.object({ type: z.literal('ack'), cseq: z.int() }),
  z.object({ type: z.literal('ping'), at: z.number() }),
])

export type Hello = z.output<typeof hello>
export type EventBatch = z.output<typeof events>
export type FromConnector = z.output<typeof fromConnector>
export type FromEngine = z.output<typeof fromEngine>

/** Purpose of a channel: single calls, a client of its own (`ws`), or batches run next to the browser. */
export type ChannelKind = 'cdp' | 'ws' | 'commands'

/** Parses a message of the other end. @throws BaxError `invalid_data`. */
export function readControl<S extends z.ZodType>(schema: S, message: Control): z.output<S> {
  const { success, data, error } = schema.safeParse(message)
  if (success) return data
  const { path, message: why } = error.issues[0]!
  throw new BaxError('invalid_data', `${message.type}: ${path.join('.')} ${why}`, { cause: error })
}
