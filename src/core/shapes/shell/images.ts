/** Shapes of the images that shell sessions use. */
import { z } from 'zod'
import { named } from '../fields.ts'

export const shellImage = named('ShellImage', { name: z.string(), size_bytes: z.int(), created_at: z.iso.datetime() })

export const imageBuild = z.object({
  which: z
    .enum(['default', 'busybox'])
    .default('default')
    .describe('default: Debian with Python, Node and git (about 300 MB); busybox: 2 MB'),
})

const frame = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ seq: z.int(), ts: z.iso.datetime(), type: z.literal(type), ...shape })

/** One frame of a build; exactly one built or error frame is the last. */
export const buildFrame = z
  .discriminatedUnion('type', [
    frame('log', { line: z.string() }),
    frame('built', { image: shellImage }),
    frame('error', { code: z.string(), message: z.string(), hint: z.string().optional() }),
  ])
  .meta({ id: 'ShellImageFrame' })

export type ShellImageRecord = z.output<typeof shellImage>
export type ShellImageBuild = z.output<typeof imageBuild>
