/** `bax openapi`: prints the OpenAPI document. */
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { send } from './api.ts'

export const command: TerminalCommand = async (invocation) =>
  send(parseInvocation(invocation).context, { method: 'GET', path: '/openapi.json' })
