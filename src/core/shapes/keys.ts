/** Shapes of API keys in requests and lists; lists never contain the key itself. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { keyScopes } from '../access/caller.ts'
import { printable } from './text.ts'

export const keyRecord = z
  .object({
    key_id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(keyScopes)),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().describe('null when it does not expire'),
    last_used_at: z.iso.datetime().nullable().describe('Accurate to the minute'),
    revoked_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'KeyRecord' })

export type KeyRecord = z.output<typeof keyRecord>

export const keyInput = z.object({
  name: printable(100).trim().min(1).describe('Purpose or owner of the key'),
  scopes: z
    .array(z.enum(keyScopes))
    .max(limits.input.names)
    .min(1)
    .default(['browser', 'scrape', 'shell', 'relay'])
    .describe('Permissions; admin allows everything, sees the resources of all keys, and manages keys'),
  expires: printable(100)
    .optional()
    .describe('Lifetime such as 30d, 12h or 90m, or end time in ISO 8601; unlimited when omitted'),
})

export type KeyInput = z.output<typeof keyInput>

export const createdKey = z
  .object({
    key: z.string().describe('The key itself; shown only once and not stored'),
    ...keyRecord.shape,
  })
  .meta({ id: 'KeyMade' })

export type CreatedKey = z.output<typeof createdKey>
