/** Commands that record a session into its files. */
import { z } from 'zod'
import { defineCommand } from '../../core/operation/command.ts'
import { newFile } from '../../core/shapes/session-files.ts'

/** Fields of the commands that end a recording. */
const ending = z.object({
  name: newFile.optional().describe('Name of the file in the session; gets a number if it is taken'),
})

const recorded = z.object({
  name: z.string().describe('Name of the file, for GET /sessions/{session_id}/files/{name}'),
  size: z.int().describe('Bytes'),
  truncated: z.string().optional().describe('Why the recording ended early'),
})

const stopping = { kind: 'action', example: '', positional: [['name'], []], data: ending, stores: 'name' } as const

export const start_har = defineCommand({
  kind: 'action',
  summary: 'Start to record the requests as HAR',
  also: ['har start', 'network har start'],
  example: ['', '--no-bodies'],
  data: z.object({
    bodies: z.boolean().default(true).describe('Include the bodies of requests and responses, up to 1 MiB each'),
  }),
  result: null,
  run: ({ startRecording }, { bodies }) => startRecording('har', { bodies }),
})

export const stop_har = defineCommand({
  ...stopping,
  summary: 'Save the recorded requests as HAR file',
  also: ['har stop', 'network har stop'],
  result: recorded,
  run: async ({ stopRecording }, { name }) => ({ data: { ...(await stopRecording('har', name)) } }),
})

export const start_trace = defineCommand({
  kind: 'action',
  summary: 'Start to record a Playwright trace',
  also: ['trace start', 'tracing start'],
  example: '',
  data: z.object({}),
  result: null,
  run: ({ startRecording }) => startRecording('trace', {}),
})

export const stop_trace = defineCommand({
  ...stopping,
  summary: 'Save the recorded trace as zip file',
  also: ['trace stop', 'tracing stop'],
  result: recorded.describe('For npx playwright show-trace'),
  run: async ({ stopRecording }, { name }) => ({ data: { ...(await stopRecording('trace', name)) } }),
})

export const start_video = defineCommand({
  kind: 'action',
  summary: 'Start to record the active tab as WebM video',
  also: ['video start'],
  example: '',
  data: z.object({}),
  result: null,
  run: ({ startRecording }) => startRecording('video', {}),
})

export const stop_video = defineCommand({
  ...stopping,
  summary: 'Save the recorded video',
  also: ['video stop'],
  result: recorded.extend({
    duration_ms: z.int(),
    width: z.int(),
    height: z.int(),
  }),
  run: async ({ stopRecording }, { name }) => ({ data: { ...(await stopRecording('video', name)) } }),
})
