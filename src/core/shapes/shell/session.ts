/** Data shapes of shell sessions. */
import { z } from 'zod'
import { imageChars, imagePattern, isImageReference } from '../../config/image-reference.ts'
import { limits } from '../../limits/limits.ts'
import { displayName, opaqueText, printable, withoutNul } from '../text.ts'

const isoTime = z.iso.datetime().describe('ISO 8601 UTC with milliseconds')
const { shell, exec } = limits

/** Environment variables by name. */
export const environment = z
  .record(
    z.string().regex(/^[^=\0]+$/, 'names of variables must not be empty and hold neither = nor NUL'),
    withoutNul(z.string()),
  )
  .refine((given) => Object.keys(given).length <= shell.envNames, `must have at most ${shell.envNames} variables`)
  .refine(
    (given) =>
      Object.entries(given).reduce((sum, [name, value]) => sum + Buffer.byteLength(name + value), 0) <= shell.envBytes,
    `must have at most ${shell.envBytes} bytes`,
  )

/** Working folder of a command: absolute, or relative to that of the session. */
export const workingFolder = withoutNul(z.string().min(1)).refine(
  (text) => Buffer.byteLength(text) <= limits.files.pathBytes,
  `must have at most ${limits.files.pathBytes} bytes`,
)

export const shellLanguages = ['python', 'javascript', 'bash'] as const

const megabytes = (most: number) => z.int().min(1).max(most)
const entries = z.int().min(16).max(shell.maxFiles)

const shellLimits = z
  .strictObject({
    memory_mb: z.int().min(16).max(65_536).default(shell.memoryMb).describe('Memory of all processes together'),
    cpus: z.number().min(0.05).max(64).default(shell.cpus).describe('Processors; fractions are shares of one'),
    pids: z.int().min(8).max(8192).default(shell.pids).describe('Processes and threads'),
    workspace_mb: megabytes(16_384).default(shell.workspaceMb).describe('Room under /workspace'),
    output_mb: megabytes(16_384).default(shell.outputMb).describe('Room under each output mount'),
    tmp_mb: megabytes(16_384).default(shell.tmpMb).describe('Room under /tmp'),
    workspace_files: entries.default(shell.workspaceFiles).describe('Files and directories under /workspace'),
    output_files: entries.default(shell.outputFiles).describe('Files and directories under each output mount'),
    tmp_files: entries.default(shell.tmpFiles).describe('Files and directories under /tmp'),
    max_output_bytes: z
      .int()
      .min(0)
      .max(exec.maxOutputBytes)
      .default(exec.outputBytes)
      .describe('Kept of the output of a command, of each of stdout and stderr'),
  })
  .meta({ id: 'ShellLimits' })

const idleTimeout = z
  .number()
  .gt(0)
  .max(shell.maxTimeoutSecs)
  .describe('Stops the session so many seconds after the last call on it; a running command holds it')

/** Longest file name that Linux takes. */
const nameBytes = 255

/** Folders that a container has of its own. */
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
    .describe('Container image that the machine has; the default one suits the language'),
  language: z
    .enum(shellLanguages)
    .default('bash')
    .describe('Interpreter of `code`, and the default image; `command` is always a shell command'),
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
        .regex(/^\/[^/]+(\/[^/]+)*$/, 'must be an absolute path without a slash at its end')
        .refine((path) => !path.split('/').some((part) => part === '.' || part === '..'), 'must not hold . or ..')
        .refine(
          (path) => path.split('/').every((part) => Buffer.byteLength(part) <= nameBytes),
          `must not hold a name of more than ${nameBytes} bytes`,
        )
        .refine((path) => !ownFolders.test(path), 'must not lie in a folder of the system'),
    )
    .max(shell.outputMounts)
    .refine((mounts) => new Set(mounts).size === mounts.length, 'must not name a folder twice')
    .default(['/output'])
    .describe('Folders whose new and changed files become artifacts after every command'),
  network: z
    .enum(['none', 'bridge'])
    .default('none')
    .describe('bridge reaches the internet, but neither this machine nor other sessions'),
  limits: shellLimits.prefault({}).describe('What the session may use'),
  max_lifetime_secs: z
    .number()
    .gt(0)
    .max(shell.maxMaxLifetimeSecs)
    .default(shell.maxLifetimeSecs)
    .describe('Stops the session so many seconds after its creation'),
  metadata: z
    .record(z.string(), z.unknown())
    .refine((metadata) => JSON.stringify(metadata).length <= limits.input.contextChars, {
      error: `must have at most ${limits.input.contextChars} characters as JSON`,
    })
    .default({})
    .describe('Kept with the session as it is'),
  pull: z.boolean().default(false).describe('Fetch an image that the machine has not, where the operator allows it'),
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

export const shellSession = z
  .object({
    id: z.string(),
    session_id: z.string().describe('The same as id'),
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
    expires_at: isoTime.describe('When it stops unless something is done with it'),
    running_execs: z.int(),
    exec_count: z.int(),
    artifact_count: z.int(),
    stopped_at: isoTime.nullable(),
    stop_reason: z.enum(stopReasons).nullable(),
    metadata: z.record(z.string(), z.unknown()),
    warning: z.string().optional(),
  })
  .meta({ id: 'ShellSession' })

export const shellListInput = z.object({
  status: z.enum(shellStatuses).optional().describe('Only sessions in this state'),
  limit: z.int().min(1).max(1000).default(100).describe('Sessions in one answer'),
  cursor: opaqueText.optional().describe('next_cursor of the answer before'),
})

export const shellList = z.object({
  sessions: z.array(shellSession),
  total: z.int().describe('Sessions in that state, on all pages'),
  next_cursor: z.string().nullable(),
})

export const shellKill = z.object({ killed: z.int().describe('Processes that were killed') }).meta({ id: 'ShellKill' })

export const touchInput = z.object({
  timeout_secs: idleTimeout.optional().describe('A new idle time-out in seconds; without it the old one starts anew'),
})

export type ShellSessionInput = z.output<typeof shellSessionInput>
export type ShellSession = z.output<typeof shellSession>
export type ShellListInput = z.output<typeof shellListInput>
export type ShellList = z.output<typeof shellList>
export type ShellKill = z.output<typeof shellKill>
export type StopReason = (typeof stopReasons)[number]
export type ShellLanguage = (typeof shellLanguages)[number]
