/** `bax openapi`: prints the OpenAPI document. */
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { send } from './api.ts'

export const command: TerminalCommand = {
  cli: 'openapi',
  summary: 'Print the OpenAPI document',
  example: 'bax openapi > openapi.json',
  run: async (invocation) => send(parseInvocation(invocation).context, { method: 'GET', path: '/openapi.json' }),
}
