/** Keys as they are asked for and listed; the key itself is in no listing. */
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
    expires_at: z.iso.datetime().nullable().describe('null: it does not expire'),
    last_used_at: z.iso.datetime().nullable().describe('To the minute'),
    revoked_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'KeyRecord' })

export type KeyRecord = z.output<typeof keyRecord>

export const keyInput = z.object({
  name: printable(100).trim().min(1).describe('Who or what the key is for'),
  scopes: z
    .array(z.enum(keyScopes))
    .max(limits.input.names)
    .min(1)
    .default(['browser', 'scrape', 'shell', 'relay'])
    .describe('What it allows; admin allows everything, sees what all keys have made, and makes keys'),
  expires: printable(100)
    .optional()
    .describe('How long it is good, such as 30d, 12h or 90m, or the moment of its end in ISO 8601; left out: for ever'),
})

export type KeyInput = z.output<typeof keyInput>

export const keyMade = z
  .object({
    key: z.string().describe('The key itself; it is kept nowhere and shown this once'),
    ...keyRecord.shape,
  })
  .meta({ id: 'KeyMade' })

export type KeyMade = z.output<typeof keyMade>
