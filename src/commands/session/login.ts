/** The command that logs in with a stored credential. */
import { z } from 'zod'
import { credentialName, credentialParts } from '../../core/access/credentials.ts'
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
    filled: z.array(z.enum(credentialParts)).describe('Parts of the credential that were filled in, in order'),
  }),
  run: async ({ credentials, signal }, { credential, timeout_ms: timeout = limits.command.navigationMs }) => ({
    data: { ...(await credentials.logIn(credential, { timeout, signal })) },
  }),
})
