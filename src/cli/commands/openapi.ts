/** `bax openapi`: prints the OpenAPI document. */
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { send } from './api.ts'

export const command: TerminalCommand = async (invocation) =>
  send(begin(invocation).context, { method: 'GET', path: '/openapi.json' })
