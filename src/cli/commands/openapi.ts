/** `bax openapi`: the description of the API. */
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { send } from './api.ts'

export const command: TerminalCommand = {
  run: (invocation) => send(begin(invocation).context, { method: 'GET', path: '/openapi.json' }),
}
