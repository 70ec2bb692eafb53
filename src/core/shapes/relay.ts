/** Shapes of relay sessions and their buffered events (`spec: relay 4 and 6`). */
import { z } from 'zod'

/** Kinds of buffered events; `relay` tells of the relay itself. */
export const relayEventKinds = ['console', 'network', 'page', 'cdp', 'relay'] as const

export const relayEvent = z
  .object({
    seq: z.int().describe('From 1, plus one for every stored record, never reused; survives a reconnect'),
    ts: z.number().describe("Milliseconds since 1970 by the browser's clock"),
    received_at: z.iso.datetime().describe('When the engine got it'),
    kind: z.enum(relayEventKinds),
    type: z.string().describe('log, exception, entry; request, response, …; or the method of a raw CDP event'),
    target_id: z.string().optional(),
    frame_id: z.string().optional(),
    data: z.record(z.string(), z.unknown()),
    truncated: z.literal(true).optional().describe('Parts of data were cut to keep the record below 32 KiB'),
  })
  .meta({ id: 'RelayEvent' })

const dropped = z
  .object({ total: z.int(), console: z.int(), network: z.int(), page: z.int(), cdp: z.int() })
  .describe('Records that were lost before they reached the buffer')

export const relayEventPage = z
  .object({
    events: z.array(relayEvent),
    next: z.int().describe('Pass as `since` to go on from here'),
    more: z.boolean().describe('More records match than `limit` let through'),
    first_seq: z.int().describe('Oldest record that is still kept; last_seq + 1 when none is'),
    last_seq: z.int(),
    gap: z
      .object({ from: z.int(), to: z.int(), count: z.int() })
      .nullable()
      .describe('Records after `since` that the ring no longer holds'),
    dropped,
    epoch: z.string().describe('Changes when the numbers start anew'),
  })
  .meta({ id: 'RelayEventPage' })

export type RelayEvent = z.output<typeof relayEvent>
export type RelayEventKind = RelayEvent['kind']
export type RelayEventPage = z.output<typeof relayEventPage>
export type RelayDropped = z.output<typeof dropped>
