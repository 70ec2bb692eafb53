/** Shapes of the files of a session (`spec: contract 12`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { named, withoutNul } from './fields.ts'

const { nameBytes, pathBytes } = limits.files

/** Name of an existing file: it is only looked up, so that anything may be asked for. */
export const knownFile = withoutNul(z.string().min(1).max(pathBytes))

/** Name of a new file: one path segment. */
export const newFile = knownFile
  .regex(/^(?!\.{1,2}$)[^/\\]+$/, 'must be a file name without folders')
  .refine((name) => Buffer.byteLength(name) <= nameBytes, `must have at most ${nameBytes} bytes`)

/** Folder of a new file: segments as in `newFile`, separated by slashes. */
export const newFolder = knownFile.refine(
  (folder) => folder.split('/').every((name) => newFile.safeParse(name).success),
  `must be names of folders separated by "/", such as photos/2026, each of at most ${nameBytes} bytes`,
)

const fileSource = z.enum(['download', 'upload', 'screenshot', 'pdf', 'har', 'trace', 'video'])

export const sessionFile = named('SessionFile', {
  name: z.string(),
  size: z.int().describe('Bytes'),
  type: z.string().describe('Media type, by the extension of the name'),
  source: fileSource.describe('What created the file'),
  created_at: z.iso.datetime(),
})

export const sessionFileList = z.object({
  files: z.array(sessionFile).describe('Oldest first'),
  total: z.int(),
})

/** A download that a command has started, in its result. */
export const commandDownload = z.object({
  name: z.string().describe('Name of the file of the session'),
  url: z.string().describe('At most 2000 characters; passwords and tokens are redacted'),
  state: z
    .enum(['completed', 'failed', 'in_progress'])
    .describe('in_progress: it took longer than the command waited; the file appears when it is complete'),
  size: z.int().optional().describe('Bytes of a completed download'),
  error: z.string().optional().describe('Why it failed'),
  saved_by: z
    .literal('user')
    .optional()
    .describe("In relay sessions: the user's browser saves it in its own folder, and it is no file of the session"),
})

export type FileSource = z.output<typeof fileSource>
export type SessionFile = z.output<typeof sessionFile>
export type SessionFileList = z.output<typeof sessionFileList>
export type CommandDownload = z.output<typeof commandDownload>
