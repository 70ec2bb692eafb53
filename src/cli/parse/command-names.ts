/** Names of commands in request bodies, which may be spelled as on the command line. */
import { snakeCase } from '../../lines/values.ts'

/** Renames `navigate-to` to `navigate_to`, for all commands in a body of POST /commands or POST /browser_step. */
export function renameCommands(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { commands } = body
  return { ...(renamed(body) as object), ...(Array.isArray(commands) && { commands: commands.map(renamed) }) }
}

function renamed(call: unknown): unknown {
  const { command } = (call ?? {}) as { command?: unknown }
  if (typeof command === 'string') return { ...(call as object), command: snakeCase(command) }
  // `bax step` takes one command as an object.
  return typeof command === 'object' && command !== null ? { ...(call as object), command: renamed(command) } : call
}
