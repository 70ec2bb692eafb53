/** Data shapes that describe an engine itself. */
import { z } from 'zod'

export const engineStatus = z
  .object({
    engine_id: z.string(),
    version: z.string(),
    home: z.enum(['embedded', 'local', 'server']),
    pid: z.int(),
    started_at: z.iso.datetime(),
    socket: z.string().nullable().describe('Socket or address it listens on; null when embedded'),
    sessions: z.int().describe('Live sessions'),
    shells: z.int().describe('Live shell sessions'),
    provisions: z.int().describe('Sessions being provisioned'),
    relays: z.int().describe('Browsers of users that are connected'),
    crawls: z.int().describe('Crawls at work'),
    browsers: z.array(
      z.object({
        worker_id: z.string(),
        kind: z.string().describe('headless-shell, headless or headful'),
        product: z.string(),
        pid: z.int(),
        sessions: z.int(),
        warm: z.int().describe('Ready pages waiting for a session'),
      }),
    ),
    memory_bytes: z.int().describe('Resident memory of the engine process, browsers not included'),
  })
  .meta({ id: 'EngineStatus' })

export type EngineStatus = z.output<typeof engineStatus>
