/** Control messages of the tunnel beside those for channels (`spec: relay 8`); what comes from outside is checked. */
import { z } from 'zod'
import { BaxError } from '../../../core/errors/errors.ts'
import { relayEventKinds, relayTarget } from '../../../core/shapes/relay.ts'
import { relayPolicies } from '../../../core/relay-words.ts'
import type { Control } from './tunnel.ts'

/** Version of the protocol that this bax speaks: executors run in connectors from 1.1 on, 1.2 limits the size of results. */
export const protocol = '1.2'
/** Subprotocol of the websocket. */
export const subprotocol = 'bax.relay.v1'

const target = relayTarget.omit({ active: true })

const hello = z.object({
  type: z.literal('hello'),
  proto: z.string(),
  version: z.string(),
  platform: z.string(),
  name: z.string().max(100).nullable(),
  policy: z.enum(relayPolicies),
  /** False: what the collector sends was not redacted, as its user wished. */
  redact: z.boolean(),
  browser: z.object({
    product: z.string(),
    protocol_version: z.string(),
    user_agent: z.string(),
    headless: z.boolean(),
  }),
  /** The secret of the session that is to go on. */
  resume: z.string().optional(),
})

const events = z.object({
  type: z.literal('events'),
  /** Number of the first of the batch, by the connector's count; the others follow without holes. */
  cseq: z.int().min(1),
  batch: z.array(
    z.object({
      ts: z.number(),
      kind: z.enum(relayEventKinds),
      type: z.string().max(200),
      target_id: z.string().optional(),
      frame_id: z.string().optional(),
      data: z.record(z.string(), z.unknown()),
      truncated: z.literal(true).optional(),
    }),
  ),
  /** Lost since the connector began, by kind. */
  dropped: z.object({ console: z.int(), network: z.int(), page: z.int(), cdp: z.int() }),
})

const fromConnector = z.discriminatedUnion('type', [
  hello,
  events,
  z.object({ type: z.literal('targets'), targets: z.array(target), active: z.string().nullable() }),
  z.object({ type: z.literal('browser'), state: z.enum(['lost', 'back']), cause: z.string().optional() }),
  z.object({ type: z.literal('pong'), at: z.number() }),
  z.object({ type: z.literal('bye'), reason: z.enum(['stopped', 'browser_closed']) }),
])

const fromEngine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    proto: z.string(),
    session_id: z.string(),
    resume: z.string(),
    heartbeat_ms: z.number().min(10),
    /** Newest event of the connector that the engine has. */
    acked: z.int(),
  }),
  z.object({ type: z.literal('ack'), cseq: z.int() }),
  z.object({ type: z.literal('ping'), at: z.number() }),
])

export type Hello = z.output<typeof hello>
export type EventBatch = z.output<typeof events>
export type FromConnector = z.output<typeof fromConnector>
export type FromEngine = z.output<typeof fromEngine>

/** What a channel is for: single calls, a client of its own (`ws`), or whole batches run beside the browser. */
export type ChannelKind = 'cdp' | 'ws' | 'commands'

/** @throws BaxError `invalid_data`. Null for a type that a newer connector may send. */
export function readFromConnector(message: Control): FromConnector | null {
  return read(fromConnector, message)
}

/** @throws BaxError `invalid_data`. Null for a type that a newer engine may send. */
export function readFromEngine(message: Control): FromEngine | null {
  return read(fromEngine, message)
}

function read<S extends z.ZodType>(schema: S, message: Control): z.output<S> | null {
  const { success, data, error } = schema.safeParse(message)
  if (success) return data
  if (error.issues.some(({ code, path }) => code === 'invalid_union' && path.join('.') === 'type')) return null
  const { path, message: why } = error.issues[0]!
  throw new BaxError('invalid_data', `${message.type}: ${path.join('.')} ${why}`, { cause: error })
}
