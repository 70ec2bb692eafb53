/** Data shapes that describe an engine itself, and whether it can do work. */
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
    execs: z.int().describe('Commands at work in shell sessions'),
    provisions: z.int().describe('Sessions being provisioned'),
    relays: z.int().describe('Browsers of users that are connected'),
    crawls: z.int().describe('Crawls at work'),
    queues: z.object({
      sessions: z.int().describe('Sessions waiting for a place in a browser'),
      pages: z.int().describe('Pages waiting to be rendered'),
      commands: z.int().describe('Batches waiting for their turn on a session'),
    }),
    egress_refused: z
      .object({
        private: z.int().describe('At an address that is not on the public internet'),
        metadata: z.int().describe('At an address or name where clouds keep credentials'),
        port: z.int().describe('At a port of other services than the web'),
        scheme: z.int().describe('By another scheme than those of the web'),
      })
      .describe('Connections that were refused since the engine started'),
    browsers: z.array(
      z.object({
        worker_id: z.string(),
        kind: z.string().describe('headless, stealth, headful or headful-stealth'),
        product: z.string(),
        pid: z.int(),
        sessions: z.int(),
        warm: z.int().describe('Ready pages waiting for a session'),
        responsive: z.boolean().describe('false: it does not answer, gets no new sessions, and is killed before long'),
      }),
    ),
    memory_bytes: z.int().describe('Resident memory of the engine process, browsers not included'),
  })
  .meta({ id: 'EngineStatus' })

const readyPart = z.object({
  ok: z.boolean(),
  message: z.string().optional().describe('What is wrong with it'),
})

export const readiness = z
  .object({
    status: z.literal('ready'),
    parts: z.object({
      accepting: readyPart.describe('The process is not about to end'),
      browser: readyPart.describe('A browser is there and starts'),
      state: readyPart.describe('The state folder can be written'),
    }),
  })
  .meta({ id: 'Readiness' })

export type ReadyPart = z.output<typeof readyPart>
export type ReadyParts = z.output<typeof readiness>['parts']
export type EngineStatus = z.output<typeof engineStatus>
