/** Names of commands in request bodies, which may be spelled as on the command line. */
import { isMapping } from '../../core/text/is-mapping.ts'
import { snakeCase } from '../../lines/values.ts'

/** Renames `navigate-to` to `navigate_to`, for all commands in a body of POST /commands or POST /browser_step. */
export function renameCommands(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { commands } = body
  return { ...renamed(body), ...(Array.isArray(commands) && { commands: commands.map(renamedIfCall) }) }
}

function renamed(call: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { command } = call
  if (typeof command === 'string') return { ...call, command: snakeCase(command) }
  // `bax step` takes one command as an object.
  return isMapping(command) ? { ...call, command: renamed(command) } : { ...call }
}

const renamedIfCall = (call: unknown): unknown => (isMapping(call) ? renamed(call) : call)
