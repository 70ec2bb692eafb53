/** Shapes of raw transfers of a shell session's files: downloads and uploads. */
import { z } from 'zod'
import { session } from './exec.ts'
import { at, mode, onePath } from './files.ts'

export const rawFile = z.object({ ...session, ...at }).superRefine(onePath)

export const uploadInput = z
  .object({
    ...session,
    ...at,
    mode: mode.optional().describe('Octal permissions; an existing file keeps its own, a new one gets 0644'),
    create_dirs: z.boolean().default(true).describe('Create missing parent folders'),
    overwrite: z.boolean().default(true).describe('Replace an existing file'),
  })
  .superRefine(onePath)

export type RawFile = z.output<typeof rawFile>
export type UploadInput = z.output<typeof uploadInput>
