/** `bax do`: commands of the catalogue, one batch, one request. */
import { resolve } from 'node:path'
import { call } from '../../client/client.ts'
import { BaxError } from '../../core/errors.ts'
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { batchFields, type TypedBatch, type TypedCommand } from '../batch.ts'
import { showBatch } from '../batch-output.ts'
import { explainSession, noEngineFor, sessionFor } from '../chosen-session.ts'
import { operationNamed } from '../context.ts'
import { type Home, homeName, openHome } from '../home.ts'
import type { TerminalCommand } from '../invocation.ts'
import { type Io, note, readStdin } from '../io.ts'
import { showWarning } from '../output.ts'
import { quickBatch } from '../quick-batch.ts'
import { readSettings } from '../settings.ts'
import { globalFlags } from '../values.ts'

export const command: TerminalCommand = {
  async run({ io, manifest, argv }) {
    const batch =
      quickBatch(argv, manifest, io.cwd) ?? (await import('../parse-batch.ts')).parseBatch(argv, manifest, io.cwd)
    const settings = readSettings(globalFlags(batch.flags), io)
    const context = { io, manifest, settings }
    const { http } = operationNamed(manifest, 'runCommands')
    const fields = batchFields(manifest, batch.flags, io.cwd)
    const given = batch.commands === null ? await readCommands(io) : {}
    const flag = (batch.flags['session'] as string | undefined) ?? (given['session_id'] as string | undefined)
    const session = sessionFor(settings, homeName(context), flag)
    const home = openHome(context, session ? { when: 'running', absent: noEngineFor(session.id) } : { when: 'start' })
    const commands = batch.commands?.map((typed) => onWire(typed, home, io))
    const input = { ...given, ...fields, ...(commands && { commands: commands.map((entry) => entry.wire) }) }
    try {
      const body = (await call(home.transport, http, session ? { ...input, session_id: session.id } : input, {
        signal: io.signal,
        strict: true,
      })) as CommandsResult
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
  },
}

/**
 * A file that a command names is the caller's: its path starts at the caller's folder, and from a server, which keeps
 * its hands off our files, the bytes come back and are written here.
 */
function onWire(typed: TypedCommand, home: Home, io: Io) {
  const { command, data } = typed
  const path = command === 'screenshot' ? data['path'] : undefined
  if (typeof path !== 'string') return { typed, wire: { command, data } }
  const { path: _, ...rest } = data
  if (home.kind === 'server') return { typed: { output: path, ...typed }, wire: { command, data: rest } }
  return { typed, wire: { command, data: { ...rest, path: resolve(io.cwd, path) } } }
}

async function readCommands(io: Io): Promise<Record<string, unknown>> {
  const text = await readStdin(io)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new BaxError('invalid_json', `standard input is not JSON: ${(error as Error).message}`, {
      hint: 'give an array such as [{"command":"get_title"}]',
      cause: error,
    })
  }
  if (Array.isArray(value)) return { commands: value }
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new BaxError('invalid_request', 'standard input must hold a JSON array of commands', {
    hint: 'give an array such as [{"command":"get_title"}]',
  })
}

/** With commands from standard input, --output takes the last result that has content. */
function outputOfStdin({ flags }: TypedBatch, { results }: CommandsResult): TypedCommand[] | null {
  const output = flags['output'] as string | undefined
  if (output === undefined) return null
  const last = results.findLast(({ command_type, data }) => command_type === 'extraction' || data?.['screenshot'])
  return results.map((result) => ({ command: result.command, data: {}, ...(result === last && { output }) }))
}
