/** Shapes of an engine's status and readiness. */
import { z } from 'zod'
import { named } from './fields.ts'

export const engineStatus = named('EngineStatus', {
  engine_id: z.string(),
  version: z.string(),
  home: z.enum(['embedded', 'local', 'server']),
  pid: z.int(),
  started_at: z.iso.datetime(),
  socket: z.string().nullable().describe('Socket or address it listens on; null when embedded'),
  sessions: z.int().describe('Live sessions'),
  shells: z.int().describe('Live shell sessions'),
  execs: z.int().describe('Commands running in shell sessions'),
  provisions: z.int().describe('Sessions being provisioned'),
  relays: z.int().describe('Connected browsers of users'),
  crawls: z.int().describe('Running crawls'),
  queues: z.object({
    sessions: z.int().describe('Sessions waiting for a browser slot'),
    pages: z.int().describe('Pages waiting to be rendered'),
    commands: z.int().describe('Batches waiting for their turn on a session'),
  }),
  egress_refused: z
    .object({
      private: z.int().describe('To addresses outside the public internet'),
      metadata: z.int().describe('To addresses or names of cloud metadata services'),
      port: z.int().describe('To ports of services other than the web'),
      scheme: z.int().describe('With a scheme other than those of the web'),
    })
    .describe('Number of connections refused since the engine started'),
  browsers: z.array(
    z.object({
      worker_id: z.string().describe('ID of the worker in a fleet; on a single machine that of the browser'),
      kind: z.string().describe('headless, stealth, headful or headful-stealth'),
      product: z.string(),
      pid: z.int(),
      sessions: z.int(),
      warm: z.int().describe('Pages kept ready for new sessions'),
      responsive: z.boolean().describe('false: it does not respond, gets no new sessions, and will be killed'),
    }),
  ),
  memory_bytes: z.int().describe('Resident memory of the engine process, browsers not included'),
})

const readyPart = z.object({
  ok: z.boolean(),
  message: z.string().optional().describe('Reason why it is not ok'),
})

export const readiness = named('Readiness', {
  status: z.literal('ready'),
  parts: z.object({
    accepting: readyPart.describe('The process is not shutting down'),
    browser: readyPart.describe('A browser is installed and starts'),
    state: readyPart.describe('The state folder is writable'),
  }),
})

export type ReadyPart = z.output<typeof readyPart>
export type ReadyParts = z.output<typeof readiness>['parts']
export type EngineStatus = z.output<typeof engineStatus>
