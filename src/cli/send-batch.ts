/** Sends a typed batch of browser commands and prints the results. */
import { textFlag } from '../lines/typed.ts'
import { resolve } from 'node:path'
import { type Unchecked, uncheckedFields } from '../client/calls.ts'
import { BaxError } from '../core/errors/errors.ts'
import { formatFor } from '../core/text/image-format.ts'
import type { CommandsResult } from '../core/shapes/commands.ts'
import { batchParams, findEntry, flagFields, type TypedBatch, type TypedCommand } from '../lines/batch.ts'
import { showBatch } from './output/batch-output.ts'
import { explainSession, type FoundSession, noEngineFor, sessionOrDefault } from './session/chosen-session.ts'
import { createReady } from './session/create-session.ts'
import { inNamedSession } from './session/named-session.ts'
import { withControlNotice } from './output/control-notice.ts'
import type { Context } from './context.ts'
import { engineName, type LocatedEngine, locateEngine, type Need } from './engine/locate-engine.ts'
import { note } from './io.ts'
import { showWarning } from './output/output.ts'
import { fileReader } from './output/progress.ts'
import { fetchStored } from './session/fetch-files.ts'
import { filesToUpload, type NamedFiles, uploadFiles, type UploadTools } from '../client/upload-files.ts'

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
  readonly operation: 'runCommands' | 'browserStep'
  /** Fields of the request that the flags set. */
  readonly fields: Unchecked
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
  const session = batchSession(context, { ...given, ...batch.flags })
  const isDefault = session?.source === 'default'
  const need: Need = session && !isDefault ? { when: 'running', absent: noEngineFor(session.id) } : { when: 'start' }
  const local = batch.commands?.map(({ command, data }) => filesToUpload(findEntry(command, manifest), data, io.cwd))
  const engine = sending.engine ?? locateEngine(context, need)
  const { upload } = engine
  const tools = { manifest, upload, read: fileReader(io), signal: io.signal }
  // The server ignores fields of a new session when one is named.
  const { headless, ...fields } = { ...given, ...kind.fields }
  const { confirm } = fields
  const creation = uncheckedFields({
    ...(headless !== undefined && { headless }),
    ...(confirm !== undefined && { confirm }),
  })
  let sent: { typed: TypedCommand; wire: unknown }[] | undefined
  try {
    // Files are uploaded before the commands that would create the session, and notices of what waits need its ID.
    const early = confirm !== undefined || local?.some(Boolean)
    const fileSession = !session && early ? await createReady(context, engine, creation) : undefined
    const sessionId = session?.id ?? fileSession
    const send = async () => {
      const uploaded = batch.commands && (await withUploads(batch.commands, local!, sessionId, tools))
      sent = uploaded?.map((typed) => onWire(typed, engine, context))
      const input = {
        ...fields,
        ...(sessionId === undefined && creation),
        ...(sent && { commands: sent.map((entry) => entry.wire) }),
        ...(sessionId !== undefined && { session_id: sessionId }),
      }
      const answer = engine.ask(kind.operation, input, { signal: io.signal, strict: true })
      return withControlNotice<CommandsResult>(io, engine, sessionId, answer)
    }
    const body = isDefault ? await inNamedSession(context, engine, { name: session.id, creation }, send) : await send()
    if (!session && engine.kind !== 'embedded' && !settings.json) {
      note(io, `session ${body.session_id} (continue with: bax ${kind.words} -s ${body.session_id} …)`)
    }
    await showWarning(io, body)
    const typed = sent?.map((entry) => entry.typed) ?? outputOfStdin(batch, body)
    const code = await showBatch(context, body, typed, new Date())
    if (typed) await fetchStored(context, engine, body, typed)
    if (!settings.json) kind.show?.(body)
    return code
  } catch (error) {
    throw explainSession(error, session?.source)
  } finally {
    await engine.transport.close()
  }
}

/** Returns the session that flags, or the fields of a request, name; undefined for a new one without a name. */
export function batchSession(context: Context, flags: Readonly<Record<string, unknown>>): FoundSession | undefined {
  const named = textFlag(flags, 'session') ?? textFlag(flags, 'session_id')
  const isNew = flags['newSession'] === true
  if (isNew && named !== undefined)
    throw new BaxError('invalid_request', `--new-session cannot be used with session ${JSON.stringify(named)}`, {
      hint: 'leave out one of them',
    })
  // An empty name, for example of an unset variable, must not select the default session.
  if (named === '') throw new BaxError('invalid_request', 'session_id must not be empty')
  return isNew ? undefined : sessionOrDefault(context.settings, engineName(context), named)
}

/** Uploads the local files of the commands, and replaces them by their names in the session. */
async function withUploads(
  commands: readonly TypedCommand[],
  local: readonly (NamedFiles | undefined)[],
  sessionId: string | undefined,
  tools: UploadTools & Pick<Context, 'manifest'>,
): Promise<TypedCommand[]> {
  const ready: TypedCommand[] = []
  for (const [at, typed] of commands.entries()) {
    const files = local[at]
    if (!files || sessionId === undefined) ready.push(typed)
    else {
      const field = findEntry(typed.command, tools.manifest)!.localFiles!
      ready.push({ ...typed, data: { ...typed.data, [field]: await uploadFiles(files, sessionId, tools) } })
    }
  }
  return ready
}

/**
 * Returns a command as it is sent. Paths of results are relative to the caller's folder; a server must not write files
 * of the caller, so the bytes are returned and written here.
 */
function onWire(typed: TypedCommand, engine: LocatedEngine, { io, manifest }: Context) {
  const { command, data } = typed
  const { bytes } = findEntry(command, manifest) ?? {}
  const path = bytes ? data['path'] : undefined
  const format = formatFor(bytes, data, typed.output ?? path)
  if (typeof path !== 'string') return { typed, wire: { command, data: { ...data, ...format } } }
  const { path: _, ...given } = data
  const rest = { ...given, ...format }
  if (engine.kind === 'server') return { typed: { output: path, ...typed }, wire: { command, data: rest } }
  return { typed, wire: { command, data: { ...rest, path: resolve(io.cwd, path) } } }
}

/** With commands from standard input, --output receives the last result that has content. */
function outputOfStdin({ flags }: TypedBatch, { results }: CommandsResult): TypedCommand[] | null {
  const output = textFlag(flags, 'output')
  if (output === undefined) return null
  const last = results.findLast(({ command_type }) => command_type === 'extraction')
  return results.map((result) => ({ command: result.command, data: {}, ...(result === last && { output }) }))
}
