/** Methods of operations and commands, which are called as in the terminal. */
import { type Calls, uncheckedFields } from '../client/calls.ts'
import type { CallOptions } from '../client/client.ts'
import { readLocalFile } from '../client/local-file.ts'
import { filesToUpload, uploadFiles } from '../client/upload-files.ts'
import { BaxError } from '../core/errors/errors.ts'
import { ofOneCommand } from '../core/errors/one-command.ts'
import type { CommandEntry, OperationEntry } from '../operations/manifest.ts'
import type { Context } from '../cli/context.ts'
import { methodOf, type Owner, placesOf } from './places.ts'

type Fields = Readonly<Record<string, unknown>>
type Method = (...args: never[]) => unknown
export type Methods = Record<string, Method>

/** The engine that methods call, and the options of their calls. */
export interface Target {
  readonly context: Context
  readonly engine: Calls
  /** Completes the options of a call. */
  readonly options: (given?: CallOptions) => CallOptions
}

/** Returns the methods of an owner; `fixed` are the fields that identify it. */
export const operationMethods = (target: Target, owner: Owner, fixed: Fields = {}): Methods =>
  Object.fromEntries(
    target.context.manifest.operations.flatMap((operation) =>
      placesOf(operation)
        .filter((place) => place.owner === owner)
        .map(({ method }) => [method, operationMethod(target, operation, fixed)]),
    ),
  )

function operationMethod({ engine, options }: Target, operation: OperationEntry, fixed: Fields): Method {
  const fieldsOf = (input: Fields = {}) => uncheckedFields({ ...input, ...fixed })
  // Names of transfers are known only at run time.
  const name = operation.name as never
  if (operation.transfer === 'upload')
    return (input: Fields, body: Body, given?: CallOptions) =>
      engine.upload(name, fieldsOf(input), piecesOf(body), options(given))
  if (operation.transfer === 'download')
    return (input?: Fields, given?: CallOptions) => engine.download(name, fieldsOf(input), options(given))
  if (operation.stream)
    return (input?: Fields, given?: CallOptions) => engine.follow(operation, fieldsOf(input), options(given))
  return async (input?: Fields, given?: CallOptions) =>
    answerOf(await engine.ask(operation, fieldsOf(input), options(given)))
}

/** Throws errors that a response with status 200 contains: those of a page, a site or a container. */
function answerOf(body: unknown): unknown {
  const { success, message } = Object(body) as Fields
  if (success === false && message !== undefined) throw BaxError.fromBody(body)
  return body
}

type Body = string | Uint8Array | AsyncIterable<Uint8Array>

async function* piecesOf(body: Body): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) yield Buffer.from(body)
  else yield* body
}

/** Returns a method for every browser command, which runs in a session or a relayed browser. */
export const commandMethods = (target: Target, session_id: string): Methods =>
  Object.fromEntries(
    target.context.manifest.commands.map((entry) => [methodOf(entry).method, commandMethod(target, entry, session_id)]),
  )

function commandMethod(target: Target, entry: CommandEntry, session_id: string): Method {
  const { method, required, positional, hasOptions } = methodOf(entry)
  return async (...args: unknown[]) => {
    const options = args.findIndex((value, at) => at >= required.length && typeof value === 'object')
    const count = Math.min(positional.length, options === -1 ? Infinity : options)
    const values = Object.fromEntries(positional.slice(0, count).map((name, at) => [name, args[at]]))
    const others = args.slice(count)
    if (others.some((other) => typeof other !== 'object' && other !== undefined))
      throw new BaxError('invalid_request', `${method} takes options as an object after ${positional.join(', ')}`)
    const data = { ...(hasOptions ? (others.shift() as Fields | undefined) : {}), ...values }
    return runCommand(target, entry, {
      session_id,
      data,
      options: target.options(others[0] as CallOptions | undefined),
    })
  }
}

interface CommandRun {
  readonly session_id: string
  readonly data: Fields
  readonly options: CallOptions
}

/** Runs a command and returns what its declaration says. @throws BaxError with the code of its failure */
async function runCommand({ context, engine }: Target, entry: CommandEntry, run: CommandRun): Promise<unknown> {
  const { session_id, data, options } = run
  const files = filesToUpload(entry, data, context.io.cwd)
  const tools = {
    upload: engine.upload,
    read: readLocalFile,
    signal: options.signal!,
  }
  const names = files && { [entry.localFiles!]: await uploadFiles(files, session_id, tools) }
  const commands = [{ command: entry.name, data: { ...data, ...names } }]
  const asked = engine.ask('runCommands', uncheckedFields({ session_id, commands }), options)
  const { results } = await asked.catch((error: unknown) => {
    throw error instanceof BaxError ? ofOneCommand(error) : error
  })
  const result = results[0]!
  if (!result.success) throw ofOneCommand(BaxError.fromBody(result, 'action_failed'))
  if (!result.data || !entry.returns) return undefined
  const value = (result.data['result'] as Fields | undefined)?.['value']
  if (entry.returns === 'value') return value
  return 'result' in result.data ? { ...result.data, result: value } : result.data
}
