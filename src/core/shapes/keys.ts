/** Shapes of API keys in requests and lists; lists never contain the key itself. */
import { z } from 'zod'
import { keyScopes } from '../access/caller.ts'
import { listOf, named, printable } from './fields.ts'

export const keyRecord = named('KeyRecord', {
  key_id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(keyScopes)),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable().describe('null when it does not expire'),
  last_used_at: z.iso.datetime().nullable().describe('Accurate to the minute'),
  revoked_at: z.iso.datetime().nullable(),
})

export type KeyRecord = z.output<typeof keyRecord>

export const keyInput = z.object({
  name: printable(100).trim().min(1).describe('Purpose or owner of the key'),
  scopes: listOf(z.enum(keyScopes))
    .min(1)
    .default(['browser', 'scrape', 'shell', 'relay'])
    .describe('Permissions; admin allows everything, sees the resources of all keys, and manages keys'),
  expires: printable(100)
    .optional()
    .describe('Lifetime such as 30d, 12h or 90m, or end time in ISO 8601; unlimited when omitted'),
})

export type KeyInput = z.output<typeof keyInput>

export const createdKey = named('KeyMade', {
  key: z.string().describe('The key itself; shown only once and not stored'),
  ...keyRecord.shape,
})

export type CreatedKey = z.output<typeof createdKey>
