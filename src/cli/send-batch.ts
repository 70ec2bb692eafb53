/** Sends a typed batch of browser commands and prints the results. */
import { resolve } from 'node:path'
import { call } from '../client/client.ts'
import type { CommandsResult } from '../core/shapes/commands.ts'
import { batchParams, findEntry, flagFields, type TypedBatch, type TypedCommand } from './parse/batch.ts'
import { showBatch } from './output/batch-output.ts'
import { explainSession, noEngineFor, sessionFor } from './session/chosen-session.ts'
import { withControlNotice } from './output/control-notice.ts'
import { type Context, operationNamed } from './context.ts'
import { engineName, type LocatedEngine, locateEngine, type Need } from './engine/locate-engine.ts'
import { note } from './io.ts'
import { showWarning } from './output/output.ts'

export interface BatchRequest {
  readonly batch: TypedBatch
  /** Request body from standard input. */
  readonly given?: Readonly<Record<string, unknown>>
  readonly kind?: BatchVariant
  /** Engine to use; by default the one of the session, or one that is started. */
  readonly engine?: LocatedEngine
}

/** Differences of `bax step` from `bax do`. */
export interface BatchVariant {
  readonly words: string
  readonly operation: string
  /** Fields of the request that the flags set. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Prints the answer after the results; not called with --json. */
  readonly show?: (body: CommandsResult) => void
}

const doKind = ({ manifest, io }: Context, { flags }: TypedBatch): BatchVariant => ({
  words: 'do',
  operation: 'runCommands',
  fields: flagFields(batchParams(manifest), flags, io.cwd),
})

/** Sends the batch to the engine that it opens and closes. Returns the exit code. */
export async function sendBatch(context: Context, sending: BatchRequest): Promise<number> {
  const { batch, given = {}, kind = doKind(context, batch) } = sending
  const { io, manifest, settings } = context
  const flag = (batch.flags['session'] ?? given['session_id']) as string | undefined
  const session = sessionFor(settings, engineName(context), flag)
  const need: Need = session ? { when: 'running', absent: noEngineFor(session.id) } : { when: 'start' }
  const engine = sending.engine ?? locateEngine(context, need)
  const commands = batch.commands?.map((typed) => onWire(typed, engine, context))
  const input = {
    ...given,
    ...kind.fields,
    ...(commands && { commands: commands.map((entry) => entry.wire) }),
    ...(session && { session_id: session.id }),
  }
  try {
    const { http } = operationNamed(manifest, kind.operation)
    const answer = call(engine.transport, http, input, { signal: io.signal, strict: true })
    const body = (await withControlNotice(io, engine.transport, session?.id, answer)) as CommandsResult
    if (!session && engine.kind !== 'embedded' && !settings.json) {
      note(io, `session ${body.session_id} (continue with: bax ${kind.words} -s ${body.session_id} …)`)
    }
    await showWarning(io, body)
    const typed = commands?.map((entry) => entry.typed) ?? outputOfStdin(batch, body)
    const code = await showBatch(context, body, typed, new Date())
    if (!settings.json) kind.show?.(body)
    return code
  } catch (error) {
    throw explainSession(error, session?.source)
  } finally {
    await engine.transport.close()
  }
}

/**
 * Returns a command as it is sent. Paths of results are relative to the caller's folder; a server must not write files
 * of the caller, so the bytes are returned and written here.
 */
function onWire(typed: TypedCommand, engine: LocatedEngine, { io, manifest }: Context) {
  const { command, data } = typed
  const path = findEntry(command, manifest)?.bytes ? data['path'] : undefined
  if (typeof path !== 'string') return { typed, wire: { command, data } }
  const { path: _, ...rest } = data
  if (engine.kind === 'server') return { typed: { output: path, ...typed }, wire: { command, data: rest } }
  return { typed, wire: { command, data: { ...rest, path: resolve(io.cwd, path) } } }
}

/** With commands from standard input, --output receives the last result that has content. */
function outputOfStdin({ flags }: TypedBatch, { results }: CommandsResult): TypedCommand[] | null {
  const output = flags['output'] as string | undefined
  if (output === undefined) return null
  const last = results.findLast(({ command_type }) => command_type === 'extraction')
  return results.map((result) => ({ command: result.command, data: {}, ...(result === last && { output }) }))
}
