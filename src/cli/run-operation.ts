/** Runs an operation from the terminal: converts arguments to its input, and prints its answer. */
import type { Command } from 'commander'
import type { Frame } from '../core/operation/call.ts'
import { call, follow } from '../client/client.ts'
import { formatCell } from '../core/text/cell.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Param } from '../core/operation/params.ts'
import type { OperationEntry } from '../operations/manifest.ts'
import { sessionFor, type SessionSource, shellFor } from './session/chosen-session.ts'
import type { Context } from './context.ts'
import { addParam, addSessionFlag, addShellFlag, addWord } from './parse/flags.ts'
import { type LocatedEngine, engineName, withSession } from './engine/locate-engine.ts'
import { parseInvocation, type Invocation } from './parse/invocation.ts'
import { print } from './io.ts'
import { isShellOperation, needOf } from './engine/need.ts'
import { showAnswer } from './output/output.ts'
import { flagValue, type TypedArguments, wordValue } from './parse/values.ts'

/** Returns the names of an operation's positional fields, in order. */
const positionals = (operation: OperationEntry): string[] =>
  [...(operation.cli ?? '').matchAll(/[<[](\w+)/g)].flatMap(([, name]) => name ?? [])

/** Checks if the session may be given as a word, a flag or a setting. */
const isOptionalSession = ({ cli }: OperationEntry, name: string): boolean =>
  name === 'session_id' && (cli ?? '').includes('[session_id]')

/** Runs a command derived from an operation. */
export async function runOperation(invocation: Invocation, operation: OperationEntry): Promise<number> {
  const { context, typed } = parseInvocation(invocation, (command) => addOperation(command, operation))
  const { input, source } = readOperation(context, operation, typed)
  const options = { signal: context.io.signal, strict: true }
  const work = async ({ transport }: LocatedEngine) => {
    if (operation.stream) {
      for await (const frame of follow(transport, operation.http, input, options)) showFrame(context, frame)
    } else {
      const body = await call(transport, operation.http, input, options)
      await showAnswer(context.io, operation, body, context.settings.json)
    }
    return 0
  }
  return withSession(context, needOf(operation, input), source, work)
}

/** Adds the positional words and flags of an operation. */
export function addOperation(command: Command, operation: OperationEntry): void {
  const words = positionals(operation)
  const param = (name: string) => operation.params.find((param) => param.name === name)!
  for (const [at, name] of words.entries()) {
    const isRequired = param(name).required && !isOptionalSession(operation, name)
    addWord(command, param(name), at === words.length - 1, isRequired)
  }
  for (const param of operation.params) {
    if (words.includes(param.name) && !isOptionalSession(operation, param.name)) continue
    if (param.name === 'session_id') (isShellOperation(operation) ? addShellFlag : addSessionFlag)(command)
    else addParam(command, param)
  }
}

/** Returns the typed input of an operation, and where the name of its session came from. */
export function readOperation(
  context: Context,
  operation: OperationEntry,
  typed: TypedArguments,
): { input: Record<string, unknown>; source?: SessionSource } {
  const words = positionals(operation)
  const { cwd } = context.io
  const value = (param: Param) => {
    const at = words.indexOf(param.name)
    return at === -1 ? flagValue(param, typed.flags, cwd) : wordValue(param, typed.words[at], cwd)
  }
  const named = operation.params.filter((param) => param.name !== 'session_id' || words.includes('session_id'))
  const input = Object.fromEntries(named.map((param) => [param.name, value(param)]))
  if (
    input['session_id'] !== undefined ||
    (words.includes('session_id') && !isOptionalSession(operation, 'session_id'))
  )
    return { input, source: 'flag' }
  const param = operation.params.find(({ name }) => name === 'session_id')
  if (!param) return { input }
  const flag = typed.flags['session'] as string | undefined
  const found = isShellOperation(operation)
    ? shellFor(context.settings, flag)
    : sessionFor(context.settings, engineName(context), flag)
  if (!found && param.required) throw isShellOperation(operation) ? noShell() : noSession()
  return found ? { input: { ...input, session_id: found.id }, source: found.source } : { input }
}

/** Builds the error of a command that needs a shell session. */
export const noShell = () =>
  new BaxError('invalid_request', 'no shell session is named', {
    hint: 'name one with -s or BAX_SHELL; run "bax shell list" or "bax shell create"',
  })

const noSession = () =>
  new BaxError('invalid_request', 'no session is named', {
    hint: 'name one with -s, BAX_SESSION or "bax session use"; run "bax session list"',
  })

function showFrame({ io, settings }: Context, frame: Frame): void {
  if (settings.json) return print(io, JSON.stringify(frame))
  const { seq: _, ts, type, ...rest } = frame as Frame & { data?: Record<string, unknown> }
  const facts = Object.entries(rest.data ?? rest).map(([name, value]) => `${name}=${formatCell(value)}`)
  print(io, [ts, type.padEnd(18), ...facts].join(' ').trimEnd())
}
