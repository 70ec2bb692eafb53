/** Sends a batch that was typed and shows what came back. */
import { resolve } from 'node:path'
import { call } from '../client/client.ts'
import type { CommandsResult } from '../core/shapes/commands.ts'
import { batchFields, type TypedBatch, type TypedCommand } from './parse/batch.ts'
import { showBatch } from './output/batch-output.ts'
import { explainSession, sessionFor } from './session/chosen-session.ts'
import { reportingControl } from './output/control-notice.ts'
import { type Context, operationNamed } from './context.ts'
import type { Home } from './engine/locate-engine.ts'
import { type Io, note } from './io.ts'
import { showWarning } from './output/output.ts'

/** A batch with the request body that was given on standard input, if it was. */
export interface Sending {
  readonly batch: TypedBatch
  readonly given?: Readonly<Record<string, unknown>>
  /** Which home its session is looked for in. */
  readonly homeName: string
  /** Opens the home, once it is known whether a session is named. */
  readonly openHome: (session: string | undefined) => Home
}

/** Returns the exit code. */
export async function sendBatch(context: Context, { batch, given = {}, homeName, openHome }: Sending): Promise<number> {
  const { io, manifest, settings } = context
  const flag = (batch.flags['session'] ?? given['session_id']) as string | undefined
  const session = sessionFor(settings, homeName, flag)
  const home = openHome(session?.id)
  const commands = batch.commands?.map((typed) => onWire(typed, home, io))
  const input = {
    ...given,
    ...batchFields(manifest, batch.flags, io.cwd),
    ...(commands && { commands: commands.map((entry) => entry.wire) }),
    ...(session && { session_id: session.id }),
  }
  try {
    const options = { signal: io.signal, strict: true }
    const { http } = operationNamed(manifest, 'runCommands')
    const sending = call(home.transport, http, input, options)
    const body = (await reportingControl(io, home.transport, session?.id, sending)) as CommandsResult
    if (!session && home.kind !== 'embedded' && !settings.json) {
      note(io, `session ${body.session_id} (go on with: bax do -s ${body.session_id} …)`)
    }
    await showWarning(io, body)
    const typed = commands?.map((entry) => entry.typed) ?? outputOfStdin(batch, body)
    return await showBatch(context, body, typed, new Date())
  } catch (error) {
    throw explainSession(error, session?.source)
  } finally {
    await home.transport.close()
  }
}

/**
 * A file that a command names is the caller's: its path starts at the caller's folder, and from a server, which keeps
 * its hands off our files, the bytes come back and are written here.
 */
export function onWire(typed: TypedCommand, home: Home, io: Io) {
  const { command, data } = typed
  const path = command === 'screenshot' ? data['path'] : undefined
  if (typeof path !== 'string') return { typed, wire: { command, data } }
  const { path: _, ...rest } = data
  if (home.kind === 'server') return { typed: { output: path, ...typed }, wire: { command, data: rest } }
  return { typed, wire: { command, data: { ...rest, path: resolve(io.cwd, path) } } }
}

/** With commands from standard input, --output takes the last result that has content. */
function outputOfStdin({ flags }: TypedBatch, { results }: CommandsResult): TypedCommand[] | null {
  const output = flags['output'] as string | undefined
  if (output === undefined) return null
  const last = results.findLast(({ command_type, data }) => command_type === 'extraction' || data?.['screenshot'])
  return results.map((result) => ({ command: result.command, data: {}, ...(result === last && { output }) }))
}
