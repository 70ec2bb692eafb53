/** Shapes of shell sessions. */
import { z } from 'zod'
import { imageChars, imagePattern, isImageReference } from '../../config/image-reference.ts'
import { BaxError } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { longestText, displayName, flag, integer, named, number, opaqueText, printable, withoutNul } from '../fields.ts'

const isoTime = z.iso.datetime().describe('ISO 8601 UTC with milliseconds')
const { shell, exec } = limits

/** Environment variables by name. */
export const environment = z
  .record(
    z
      .string()
      .max(longestText, { abort: true })
      .regex(/^[^=\0]+$/, 'names of variables must not be empty or contain = or NUL'),
    withoutNul(z.string()),
  )
  .refine((given) => Object.keys(given).length <= shell.envNames, `must have at most ${shell.envNames} variables`)
  .refine(
    (given) =>
      Object.entries(given).reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0) <= shell.envBytes,
    `must have at most ${shell.envBytes} bytes`,
  )

/** Working folder of a command: absolute, or relative to the session's. */
export const workingFolder = withoutNul(z.string().min(1)).refine(
  (text) => Buffer.byteLength(text) <= limits.files.pathBytes,
  `must have at most ${limits.files.pathBytes} bytes`,
)

export const shellLanguages = ['python', 'javascript', 'bash'] as const

const megabytes = (most: number) => integer(1, most)
const entries = integer(16, shell.maxFiles)

const shellLimits = z
  .strictObject({
    memory_mb: integer(16, 65_536).default(shell.memoryMb).describe('Total memory of all processes'),
    cpus: number(0.05, 64).default(shell.cpus).describe('Number of processors; may be fractional'),
    pids: integer(8, 8192).default(shell.pids).describe('Number of processes and threads'),
    workspace_mb: megabytes(16_384).default(shell.workspaceMb).describe('Space under /workspace'),
    output_mb: megabytes(16_384).default(shell.outputMb).describe('Space under each output mount'),
    tmp_mb: megabytes(16_384).default(shell.tmpMb).describe('Space under /tmp'),
    workspace_files: entries.default(shell.workspaceFiles).describe('Files and directories under /workspace'),
    output_files: entries.default(shell.outputFiles).describe('Files and directories under each output mount'),
    tmp_files: entries.default(shell.tmpFiles).describe('Files and directories under /tmp'),
    max_output_bytes: integer(0, exec.maxOutputBytes)
      .default(exec.outputBytes)
      .describe("Bytes to keep of each of a command's stdout and stderr"),
  })
  .meta({ id: 'ShellLimits' })

const idleTimeout = z
  .number()
  .gt(0)
  .max(shell.maxTimeoutSecs)
  .describe('Idle timeout in seconds, restarted by every call on the session; does not apply while a command runs')

/** Maximum length of a file name on Linux. */
const nameBytes = 255

/** System folders of a container. */
const ownFolders = /^\/(proc|sys|dev|etc|bin|sbin|lib|lib64|usr|boot|run|root|var|workspace|tmp)(\/|$)/

const notAnImage = 'must be an image reference such as python:3.12-slim or registry.example:5000/team/image@sha256:…'

export const shellSessionInput = z.object({
  image: z
    .string()
    .min(1, { abort: true })
    .max(imageChars, { abort: true })
    .regex(imagePattern, { error: notAnImage, abort: true })
    .refine(isImageReference, notAnImage)
    .optional()
    .describe('Container image on this machine; the default depends on the language'),
  language: z
    .enum(shellLanguages)
    .default('bash')
    .describe('Interpreter of `code`, which also determines the default image; `command` is always a shell command'),
  timeout_secs: idleTimeout.default(shell.timeoutSecs),
  name: displayName.optional().describe('Human-readable name, unique among live shell sessions'),
  env: environment.default({}).describe('Environment variables of every command'),
  cwd: workingFolder
    .regex(/^\//, 'must be an absolute path')
    .default('/workspace')
    .describe('Folder that commands start in'),
  output_mounts: z
    .array(
      printable(limits.files.pathBytes)
        .regex(/^\/[^/]+(\/[^/]+)*$/, 'must be an absolute path without a trailing slash')
        .refine((path) => !path.split('/').some((part) => part === '.' || part === '..'), 'must not contain . or ..')
        .refine(
          (path) => path.split('/').every((part) => Buffer.byteLength(part) <= nameBytes),
          `must not contain a name of more than ${nameBytes} bytes`,
        )
        .refine((path) => !ownFolders.test(path), 'must not be in a system folder'),
    )
    .max(shell.outputMounts)
    .refine((mounts) => new Set(mounts).size === mounts.length, 'must not contain duplicates')
    .default(['/output'])
    .describe('Folders whose new and changed files become artifacts after every command'),
  network: z
    .enum(['none', 'bridge'])
    .default('none')
    .describe('bridge reaches the internet, but neither this machine nor other sessions'),
  limits: shellLimits.prefault({}).describe('Resource limits of the session'),
  max_lifetime_secs: z
    .number()
    .gt(0)
    .max(shell.maxMaxLifetimeSecs)
    .default(shell.maxLifetimeSecs)
    .describe('Maximum lifetime in seconds'),
  metadata: z
    .record(z.string(), z.unknown())
    .refine((metadata) => JSON.stringify(metadata).length <= limits.input.contextChars, {
      error: `must have at most ${limits.input.contextChars} characters as JSON`,
    })
    .default({})
    .describe('Arbitrary data stored with the session'),
  pull: flag('Pull a missing image, if the operator allows it'),
})

const shellStatuses = ['creating', 'ready', 'stopping', 'stopped', 'failed'] as const

const stopReasons = [
  'deleted',
  'idle_timeout',
  'max_lifetime',
  'engine_shutdown',
  'engine_lost',
  'image_error',
  'container_died',
] as const

export const shellSession = named('ShellSession', {
  id: z.string(),
  session_id: z.string().describe('Same as id'),
  status: z.enum(shellStatuses),
  name: z.string().nullable(),
  image: z.string(),
  language: z.enum(shellLanguages),
  cwd: z.string(),
  output_mounts: z.array(z.string()),
  network: z.enum(['none', 'bridge']),
  limits: shellLimits,
  timeout_secs: z.number(),
  max_lifetime_secs: z.number(),
  created_at: isoTime,
  last_active_at: isoTime,
  expires_at: isoTime.describe('When it stops if it is not used before'),
  running_execs: z.int(),
  exec_count: z.int(),
  artifact_count: z.int(),
  stopped_at: isoTime.nullable(),
  stop_reason: z.enum(stopReasons).nullable(),
  metadata: z.record(z.string(), z.unknown()),
  warning: z.string().optional(),
})

export const shellListInput = z.object({
  status: z.enum(shellStatuses).optional().describe('State of the sessions to list'),
  limit: integer(1, 1000).default(100).describe('Maximum number of sessions per response'),
  cursor: opaqueText.optional().describe('next_cursor of the previous response'),
})

export const shellList = z.object({
  sessions: z.array(shellSession),
  total: z.int().describe('Number of matching sessions on all pages'),
  next_cursor: z.string().nullable(),
})

interface ShellPosition {
  readonly created_at: string
  readonly session_id: string
}

/** Compares sessions for a list with the newest first. */
export function newestShellFirst(a: ShellPosition, b: ShellPosition): number {
  const [first, second] = [positionOf(a), positionOf(b)]
  return first < second ? 1 : first > second ? -1 : 0
}

/** Returns the cursor for the sessions after this one. */
export const shellCursor = (last: ShellPosition): string =>
  Buffer.from(`after ${positionOf(last)}`).toString('base64url')

/** Returns whether a session comes after a cursor in a list. @throws BaxError `invalid_request` for another text */
export function afterShellCursor(cursor: string): (session: ShellPosition) => boolean {
  const [, position] = /^after (\S+ sh_\S+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (position !== undefined) return (session) => positionOf(session) < position
  throw new BaxError('invalid_request', 'cursor was not returned by this list', {
    details: [{ path: 'cursor', message: 'is unknown' }],
  })
}

const positionOf = ({ created_at: at, session_id: id }: ShellPosition): string => `${at} ${id}`

export const shellKill = named('ShellKill', { killed: z.int().describe('Number of killed processes') })

export const touchInput = z.object({
  timeout_secs: idleTimeout.optional().describe('New idle timeout in seconds; restarts the current one when omitted'),
})

export type ShellSessionInput = z.output<typeof shellSessionInput>
export type ShellSession = z.output<typeof shellSession>
export type ShellListInput = z.output<typeof shellListInput>
export type ShellList = z.output<typeof shellList>
export type ShellKill = z.output<typeof shellKill>
export type StopReason = (typeof stopReasons)[number]
export type ShellLanguage = (typeof shellLanguages)[number]
