/** Commands that log in with a stored credential. */
import { z } from 'zod'
import { credentialKinds, credentialName } from '../../core/access/credentials.ts'
import { defineCommand } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import { timeoutMs } from '../fields.ts'

export const login = defineCommand({
  kind: 'action',
  summary: 'Log in on the page with a credential',
  example: 'shop',
  data: z.object({
    credential: credentialName.describe('Name of the stored credential'),
    timeout_ms: timeoutMs
      .optional()
      .describe(`Time for the whole log-in in milliseconds, ${limits.command.navigationMs} when omitted`),
  }),
  result: z.object({
    url: z.string().describe('URL of the page after the log-in'),
    filled: z.array(z.enum(credentialKinds)).describe('Parts of the credential that were used, in order'),
  }),
  run: async ({ credentials, signal }, { credential, timeout_ms: timeout = limits.command.navigationMs }) => ({
    data: { ...(await credentials.logIn(credential, { timeout, signal })) },
  }),
})

export const use_passkey = defineCommand({
  kind: 'action',
  summary: 'Create and use passkeys of a credential',
  example: 'shop',
  data: z.object({ credential: credentialName.describe('Name of the stored credential') }),
  result: z.object({
    rp_ids: z.array(z.string()).describe('RP IDs of its passkeys; pages can create further ones'),
  }),
  run: async ({ credentials }, { credential }) => ({ data: { rp_ids: await credentials.usePasskeys(credential) } }),
})
