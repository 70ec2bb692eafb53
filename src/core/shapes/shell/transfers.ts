/** What moves files of a shell session as bytes: downloads and uploads. */
import { z } from 'zod'
import { at, mode, onePath, session } from './files.ts'

export const rawFile = z.object({ ...session, ...at }).superRefine(onePath)

export const uploadInput = z
  .object({
    ...session,
    ...at,
    mode: mode.optional().describe('Octal permissions; a file that exists keeps its own, a new one has 0644'),
    create_dirs: z.boolean().default(true).describe('Make the folders above it'),
    overwrite: z.boolean().default(true).describe('Replace a file that exists'),
  })
  .superRefine(onePath)

export type RawFile = z.output<typeof rawFile>
export type UploadInput = z.output<typeof uploadInput>
