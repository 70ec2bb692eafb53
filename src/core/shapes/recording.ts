/** Shapes of recordings and scripts of sessions: their steps, and the fingerprints of their elements. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { integer, named } from './fields.ts'

const { textChars, attributes } = limits.scriptRecording
const short = z.string().max(textChars)

/** Facts of an element by which it is found again when its selector no longer matches. */
export const fingerprint = named('Fingerprint', {
  tag: short.min(1).describe('Local name'),
  role: short.optional(),
  name: short.optional().describe('Accessible name, as far as known without the accessibility tree'),
  text: short.optional().describe('Visible text, unless the element is a field'),
  attributes: z
    .record(z.string().max(100), short)
    .refine((given) => Object.keys(given).length <= attributes, { message: `must have at most ${attributes} fields` })
    .optional()
    .describe('Identifying attributes, such as id, name, type, placeholder and href'),
  position: z.int().min(1).optional().describe('Position among the siblings with the same tag, from 1'),
})

/** An element that fits a fingerprint. */
export const candidate = z.object({
  selector: z.string(),
  element: z.string().describe('Description such as button#buy "Buy"'),
})

export const recordingAction = z.enum(['start', 'stop', 'status'])

export const recordedStep = named('RecordedStep', {
  command: z.string(),
  data: z.record(z.string(), z.unknown()),
  fingerprint: fingerprint.optional().describe('Absent for steps without an element'),
  comment: z.string().optional().describe('Remark on the step, such as what was not recorded'),
  secret: z
    .literal(true)
    .optional()
    .describe('Set when the text of a password field was replaced by ${env.PASSWORD}; the text itself is not stored'),
})

export const recordingState = named('RecordingState', {
  session_id: z.string(),
  recording: z.boolean(),
  steps: z.array(recordedStep).describe('Steps so far, in order'),
})

export const scriptFormat = z.enum(['yaml', 'playwright'])

export const sessionScript = named('SessionScript', {
  session_id: z.string(),
  format: scriptFormat,
  script: z.string().describe('The script, which runs as it is'),
  steps: z.int().describe('Number of steps'),
  commands: z.int().describe('Number of the last command of the session'),
  secrets: z.array(z.string()).describe('Environment variables that the script needs, such as PASSWORD'),
  left_out: z
    .array(z.object({ number: z.int(), command: z.string(), reason: z.string() }))
    .describe('Commands that the script does not repeat'),
})

/** Number of the first command of a script. */
export const firstCommand = integer(1, Number.MAX_SAFE_INTEGER)

export type Candidate = z.output<typeof candidate>
export type Fingerprint = z.output<typeof fingerprint>
export type RecordingAction = z.output<typeof recordingAction>
export type RecordedStep = z.output<typeof recordedStep>
export type RecordingState = z.output<typeof recordingState>
export type SessionScript = z.output<typeof sessionScript>
export type ScriptFormat = z.output<typeof scriptFormat>
