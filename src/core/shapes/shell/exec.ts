/** Data shapes of commands in a shell session, and of the frames of their output. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { environment, shellLanguages, workingFolder } from './session.ts'
import { identifier, withoutNul } from '../text.ts'

const isoTime = z.iso.datetime()
const { exec } = limits

/** Exactly one of the fields is given. */
export const oneOf =
  (...names: readonly string[]) =>
  (value: Record<string, unknown>, context: z.RefinementCtx): void => {
    const given = names.filter((name) => value[name] !== undefined)
    if (given.length === 1) return
    const path = given[1] ?? names[0]!
    const message = given.length === 0 ? `one of ${names.join(', ')} is required` : `goes without ${given[0]}`
    context.addIssue({ code: 'custom', path: given.length === 0 ? [] : [path], message })
  }

const words = withoutNul().refine(
  (text) => Buffer.byteLength(text) <= exec.commandBytes,
  `must have at most ${exec.commandBytes} bytes`,
)

const signalNames = [
  'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGKILL', 'SIGUSR1', 'SIGUSR2', 'SIGTERM', 'SIGCONT', 'SIGSTOP', 'SIGTSTP', 'SIGWINCH',
] as const // prettier-ignore

const terminal = z
  .object({
    cols: z.int().min(1).max(1000).default(80),
    rows: z.int().min(1).max(1000).default(24),
  })
  .meta({ spelling: { form: 'COLSxROWS', fields: ['cols', 'rows'], separator: 'x' } })

const what = {
  command: words.min(1).optional().describe('Command of a shell (bash where the image has it, else sh)'),
  code: words.min(1).optional().describe('Program in `language`'),
  language: z.enum(shellLanguages).optional().describe('Language of `code`; that of the session when not given'),
  argv: z
    .array(words)
    .min(1)
    .max(limits.input.items)
    .refine(
      (all) => all.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0) <= exec.commandBytes,
      `must have at most ${exec.commandBytes} bytes`,
    )
    .refine((all) => all[0] !== '', 'must begin with a program')
    .optional()
    .describe('Program and its arguments, without a shell'),
}

const how = {
  timeout_secs: z
    .number()
    .gt(0)
    .max(exec.maxTimeoutSecs)
    .default(exec.timeoutSecs)
    .describe('Ends the command with all its processes after so many seconds: exit code 124'),
  cwd: workingFolder.optional().describe('Folder to start in, absolute or relative to that of the session'),
  env: environment.optional().describe('Environment variables beside those of the session'),
  stdin: z.string().optional().describe('Standard input; without it there is none'),
  stdin_encoding: z.enum(['utf8', 'base64']).default('utf8'),
  encoding: z
    .enum(['auto', 'utf8', 'base64'])
    .default('auto')
    .describe('auto: text where it is UTF-8, else base64; utf8: U+FFFD for what is none'),
  max_output_bytes: z
    .int()
    .min(0)
    .max(exec.maxOutputBytes)
    .optional()
    .describe('Kept of each of stdout and stderr; the rest is counted'),
  user: z.enum(['user', 'root']).default('user').describe('root only where the operator allows it'),
}

const session = {
  session_id: identifier.describe('Shell session id, or the name of a live one'),
}
const exactlyOne = oneOf('command', 'code', 'argv')

export const execInput = z
  .object({
    ...session,
    ...what,
    ...how,
    background: z
      .boolean()
      .default(false)
      .describe('Answer at once; ask for the result with GET /shell/exec/{exec_id}'),
    keep_stdin: z.boolean().default(false).describe('Leave standard input open for POST /shell/exec/{exec_id}/stdin'),
  })
  .superRefine(exactlyOne)

export const execStreamInput = z
  .object({
    ...session,
    ...what,
    ...how,
    keep_stdin: z.boolean().default(false).describe('Leave standard input open for POST /shell/exec/{exec_id}/stdin'),
    on_disconnect: z
      .enum(['kill', 'continue'])
      .default('kill')
      .describe('What becomes of the command when its reader goes away; one that goes on can be followed again'),
    pty: terminal.optional().describe('Run in a terminal of this size: stdout and stderr are one'),
  })
  .superRefine(exactlyOne)

const encoding = z.enum(['utf8', 'base64'])

const outcome = {
  exit_code: z.int().describe('128 + number of the signal that ended it; 124 after a time-out'),
  duration_ms: z.int(),
  timed_out: z.boolean(),
  exec_id: z.string(),
  signal: z.string().nullable().describe('Name of the signal that ended it'),
  stdout_bytes: z.int().describe('All that it wrote, kept or not'),
  stderr_bytes: z.int(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  oom_killed: z.boolean().describe('A process was ended because the memory was used up'),
  left_running: z.int().describe('Processes that it has left in the background'),
  artifact_id: z.string().nullable().describe('What it left in the output mounts; null when nothing'),
  warning: z
    .string()
    .optional()
    .describe('Says which processes were killed because the session had reached limits.pids'),
}

const output = {
  stdout: z.string(),
  stderr: z.string(),
  stdout_encoding: encoding,
  stderr_encoding: encoding,
}

const result = z.object({ ...output, ...outcome })
export const execResult = result.meta({ id: 'ExecResult' })

const execStarted = z
  .object({ exec_id: z.string(), status: z.literal('running'), pid: z.int().describe('In the container') })
  .meta({ id: 'ExecStarted' })

export const execAnswer = z.union([execResult, execStarted])

export const execRecord = result
  .extend({
    session_id: z.string(),
    status: z.enum(['running', 'exited', 'lost']).describe('lost: the container died before the command ended'),
    pid: z.int(),
    started_at: isoTime,
    exit_code: z.int().nullable().describe('null while it runs, and when it was lost'),
  })
  .meta({ id: 'Exec' })

export const execId = z.object({ exec_id: identifier.describe('Exec id') })

export const signalInput = execId.extend({
  signal: z.enum(signalNames).default('SIGTERM').describe('Sent to every process of the command'),
})

export const stdinInput = execId.extend({
  data: z.string().default('').describe('What to write'),
  encoding: encoding.default('utf8'),
  eof: z.boolean().default(false).describe('Close standard input after this'),
})

export const resizeInput = execId.extend({
  cols: z.int().min(1).max(1000).describe('Columns'),
  rows: z.int().min(1).max(1000).describe('Rows'),
})

const frame = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ seq: z.int(), ts: isoTime, type: z.literal(type), ...shape })

const piece = {
  data: z.string(),
  encoding,
  offset: z.int().describe('Place of its first byte in the stream'),
}

/** One frame of a command's output; exactly one exit or error ends it. */
export const execFrame = z
  .discriminatedUnion('type', [
    frame('start', { exec_id: z.string(), session_id: z.string(), pid: z.int(), started_at: isoTime }),
    frame('stdout', piece),
    frame('stderr', piece),
    frame('pty', piece),
    frame('artifact', { artifact_id: z.string(), files: z.int() }),
    frame('ping', {}),
    frame('lagged', { data: z.object({ dropped: z.int().describe('So many frames before this one are gone') }) }),
    frame('exit', outcome),
    frame('error', { code: z.string(), message: z.string() }),
  ])
  .meta({ id: 'ExecFrame' })

export type ExecInput = z.output<typeof execInput>
export type ExecStreamInput = z.output<typeof execStreamInput>
export type ExecAnswer = z.output<typeof execAnswer>
export type ExecResult = z.output<typeof execResult>
export type ExecRecord = z.output<typeof execRecord>
export type SignalName = (typeof signalNames)[number]
export type SignalInput = z.output<typeof signalInput>
export type StdinInput = z.output<typeof stdinInput>
export type ResizeInput = z.output<typeof resizeInput>
