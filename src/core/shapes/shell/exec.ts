/** Shapes of commands in a shell session, and of the frames of their output. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { environment, shellLanguages, workingFolder } from './session.ts'
import { flag, identifier, integer, named, withoutNul } from '../fields.ts'

const isoTime = z.iso.datetime()
const { exec } = limits

/** Creates a refinement that requires exactly one of the fields. */
export const oneOf =
  (...names: readonly string[]) =>
  (value: Record<string, unknown>, context: z.RefinementCtx): void => {
    const [first, second] = names.filter((name) => value[name] !== undefined)
    if (first === undefined)
      context.addIssue({ code: 'custom', path: [], message: `one of ${names.join(', ')} is required` })
    else if (second !== undefined)
      context.addIssue({ code: 'custom', path: [second], message: `cannot be combined with ${first}` })
  }

const argument = withoutNul().refine(
  (text) => Buffer.byteLength(text) <= exec.commandBytes,
  `must have at most ${exec.commandBytes} bytes`,
)

const signalNames = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGKILL',
  'SIGUSR1',
  'SIGUSR2',
  'SIGTERM',
  'SIGCONT',
  'SIGSTOP',
  'SIGTSTP',
  'SIGWINCH',
] as const

const terminal = z
  .object({
    cols: integer(1, 1000).default(80),
    rows: integer(1, 1000).default(24),
  })
  .meta({ spelling: { form: 'COLSxROWS', fields: ['cols', 'rows'], separator: 'x' } })

const program = {
  command: argument.min(1).optional().describe('Shell command (bash if the image has it, else sh)'),
  code: argument.min(1).optional().describe('Program in `language`'),
  language: z.enum(shellLanguages).optional().describe("Language of `code`; the session's language when omitted"),
  argv: z
    .array(argument)
    .min(1)
    .max(limits.input.items)
    .refine(
      (all) => all.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0) <= exec.commandBytes,
      `must have at most ${exec.commandBytes} bytes`,
    )
    .refine((all) => all[0] !== '', 'must start with a program')
    .optional()
    .describe('Program and its arguments, without a shell'),
}

const options = {
  timeout_secs: z
    .number()
    .gt(0)
    .max(exec.maxTimeoutSecs)
    .default(exec.timeoutSecs)
    .describe('Timeout in seconds, after which the command and all its processes are killed: exit code 124'),
  cwd: workingFolder.optional().describe("Working folder, absolute or relative to the session's"),
  env: environment.optional().describe("Environment variables in addition to the session's"),
  stdin: z.string().optional().describe('Standard input; none when omitted'),
  stdin_encoding: z.enum(['utf8', 'base64']).default('utf8'),
  encoding: z
    .enum(['auto', 'utf8', 'base64'])
    .default('auto')
    .describe('auto: text if it is UTF-8, else base64; utf8: invalid bytes become U+FFFD'),
  max_output_bytes: integer(0, exec.maxOutputBytes)
    .optional()
    .describe('Bytes to keep of each of stdout and stderr; the rest is only counted'),
  user: z.enum(['user', 'root']).default('user').describe('User to run as; root only if the operator allows it'),
}

export const session = {
  session_id: identifier.describe('Shell session ID or name of a live session'),
}
const exactlyOne = oneOf('command', 'code', 'argv')

export const execInput = z
  .object({
    ...session,
    ...program,
    ...options,
    background: flag('Respond immediately; get the result with GET /shell/exec/{exec_id}'),
    keep_stdin: flag('Keep standard input open for POST /shell/exec/{exec_id}/stdin'),
  })
  .superRefine(exactlyOne)

export const execStreamInput = z
  .object({
    ...session,
    ...program,
    ...options,
    keep_stdin: flag('Keep standard input open for POST /shell/exec/{exec_id}/stdin'),
    on_disconnect: z
      .enum(['kill', 'continue'])
      .default('kill')
      .describe('Whether to kill the command when its reader disconnects; one that continues can be followed again'),
    pty: terminal.optional().describe('Run in a terminal of this size, which merges stdout and stderr'),
  })
  .superRefine(exactlyOne)

const encoding = z.enum(['utf8', 'base64'])

const outcome = {
  exit_code: z.int().describe('Exit code; 128 + signal number if a signal ended it; 124 after a timeout'),
  duration_ms: z.int(),
  timed_out: z.boolean(),
  exec_id: z.string(),
  signal: z.string().nullable().describe('Name of the signal that ended it'),
  stdout_bytes: z.int().describe('Bytes written in total, kept or not'),
  stderr_bytes: z.int(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  oom_killed: z.boolean().describe('Whether a process was killed because of the memory limit'),
  left_running: z.int().describe('Number of processes left running in the background'),
  artifact_id: z.string().nullable().describe('Artifact with new files of the output mounts; null when there are none'),
  warning: z
    .string()
    .optional()
    .describe('Output that was not kept, and processes that were killed because the session had reached limits.pids'),
}

const output = {
  stdout: z.string(),
  stderr: z.string(),
  stdout_encoding: encoding,
  stderr_encoding: encoding,
}

const result = z.object({ ...output, ...outcome })
export const execResult = result.meta({ id: 'ExecResult' })

const execStarted = named('ExecStarted', {
  exec_id: z.string(),
  status: z.literal('running'),
  pid: z.int().describe('Process ID in the container'),
})

export const execAnswer = z.union([execResult, execStarted])

export const execRecord = result
  .extend({
    session_id: z.string(),
    status: z.enum(['running', 'exited', 'lost']).describe('lost: the container died before the command ended'),
    pid: z.int(),
    started_at: isoTime,
    exit_code: z.int().nullable().describe('null while it is running, or when it is lost'),
  })
  .meta({ id: 'Exec' })

export const execId = z.object({ exec_id: identifier.describe('Exec id') })

export const signalInput = execId.extend({
  signal: z.enum(signalNames).default('SIGTERM').describe('Signal to send to every process of the command'),
})

export const stdinInput = execId.extend({
  data: z.string().default('').describe('Data to write'),
  encoding: encoding.default('utf8'),
  eof: flag('Close standard input after this'),
})

export const resizeInput = execId.extend({
  cols: integer(1, 1000).describe('Columns'),
  rows: integer(1, 1000).describe('Rows'),
})

const frame = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ seq: z.int(), ts: isoTime, type: z.literal(type), ...shape })

const chunk = {
  data: z.string(),
  encoding,
  offset: z.int().describe('Position of its first byte in the stream'),
}

/** One frame of a command's output; exactly one exit or error frame is the last. */
export const execFrame = z
  .discriminatedUnion('type', [
    frame('start', { exec_id: z.string(), session_id: z.string(), pid: z.int(), started_at: isoTime }),
    frame('stdout', chunk),
    frame('stderr', chunk),
    frame('pty', chunk),
    frame('artifact', { artifact_id: z.string(), files: z.int() }),
    frame('ping', {}),
    frame('lagged', { data: z.object({ dropped: z.int().describe('Number of lost frames before this one') }) }),
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
