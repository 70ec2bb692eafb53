/** Runs an operation from the terminal: converts arguments to its input, and prints its answer. */
import { isMapping } from '../core/text/is-mapping.ts'
import { textFlag } from '../lines/typed.ts'
import type { Command } from 'commander'
import type { Frame } from '../core/operation/call.ts'
import { type Unchecked, uncheckedFields } from '../client/calls.ts'
import { formatCell } from '../core/text/cell.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { Param } from '../core/operation/params.ts'
import type { OperationEntry } from '../operations/manifest.ts'
import { sessionFor, sessionOrDefault, type SessionSource, shellFor } from './session/chosen-session.ts'
import type { Context } from './context.ts'
import { addParam, addSessionFlag, addShellFlag, addWord } from '../lines/flags.ts'
import { type LocatedEngine, engineName, withSession } from './engine/locate-engine.ts'
import { parseInvocation, type Invocation } from './parse/invocation.ts'
import { print } from './io.ts'
import { isShellOperation, needOf } from './engine/need.ts'
import { showAnswer } from './output/output.ts'
import { flagOf, flagValue, kebab, type TypedArguments, wordValue } from '../lines/values.ts'

interface Word {
  readonly param: Param
  /** Whether a flag may give the value instead, or for a session a setting. */
  readonly isOptional: boolean
}

/** Returns the fields that are positional words of an operation, in order. */
const wordsOf = ({ cli, params }: OperationEntry): Word[] =>
  [...(cli ?? '').matchAll(/([<[])(\w+)/g)].flatMap(([, bracket, name]) => {
    const param = params.find((one) => one.name === name)
    return param ? { param, isOptional: bracket === '[' } : []
  })

/** Runs a command derived from an operation. */
export async function runOperation(invocation: Invocation, operation: OperationEntry): Promise<number> {
  const { context, typed } = parseInvocation(invocation, (command) => addOperation(command, operation))
  return callOperation(context, operation, typed)
}

/** Calls an operation and prints its answer. */
export async function callOperation(
  context: Context,
  operation: OperationEntry,
  typed: TypedArguments,
): Promise<number> {
  const { input, source } = readOperation(context, operation, typed)
  const options = { signal: context.io.signal, strict: true }
  const work = async ({ ask, follow }: LocatedEngine) => {
    if (operation.stream) {
      for await (const frame of follow(operation, input, options)) showFrame(context, frame)
    } else {
      const body = await ask(operation, input, options)
      await showAnswer(context.io, operation, body, context.settings.json)
    }
    return 0
  }
  return withSession(context, needOf(operation, input), source, work)
}

/** Adds the positional words and flags of an operation. */
export function addOperation(command: Command, operation: OperationEntry): void {
  const words = wordsOf(operation)
  for (const [at, { param, isOptional }] of words.entries())
    addWord(command, param, at === words.length - 1, param.required && !isOptional)
  for (const param of operation.params) {
    if (words.some((word) => word.param === param && !word.isOptional)) continue
    if (param.name === 'session_id') (isShellOperation(operation) ? addShellFlag : addSessionFlag)(command)
    else addParam(command, param)
  }
}

export interface TypedOperation {
  readonly input: Unchecked
  /** Where the name of the session came from. */
  readonly source?: SessionSource
}

/** Returns the typed input of an operation. */
export function readOperation(context: Context, operation: OperationEntry, typed: TypedArguments): TypedOperation {
  const words = wordsOf(operation)
  const { cwd } = context.io
  const wordOf = (param: Param) => {
    const at = words.findIndex((word) => word.param === param)
    return at === -1 ? undefined : wordValue(param, typed.words[at], cwd)
  }
  const value = (param: Param) =>
    words.some((word) => word.param === param && !word.isOptional)
      ? wordOf(param)
      : oneOf(param, wordOf(param), flagOf(param), flagValue(param, typed.flags, cwd))
  const input = uncheckedFields(
    Object.fromEntries(
      operation.params.flatMap((param) => (param.name === 'session_id' ? [] : [[param.name, value(param)]])),
    ),
  )
  const param = operation.params.find(({ name }) => name === 'session_id')
  if (!param) return { input }
  const word = wordOf(param)
  const named = oneOf(param, typeof word === 'string' ? word : undefined, '-s', textFlag(typed.flags, 'session'))
  // An empty name, for example of an unset variable, must not select the default session.
  if (named === '') throw new BaxError('invalid_request', `<${kebab(param.name)}> must not be empty`)
  const found = isShellOperation(operation)
    ? shellFor(context.settings, named)
    : (param.required || operation.usesDefaultSession ? sessionOrDefault : sessionFor)(
        context.settings,
        engineName(context),
        named,
      )
  if (!found && param.required) throw isShellOperation(operation) ? noShell() : noSession()
  return found ? { input: { ...input, session_id: found.id }, source: found.source } : { input }
}

/** Returns the value of a word or its flag. @throws BaxError `invalid_request` if both are given and differ */
function oneOf<T>(param: Param, word: T | undefined, flag: string, flagged: T | undefined): T | undefined {
  if (word === undefined || flagged === undefined || word === flagged) return word ?? flagged
  const [first, second] = [`<${kebab(param.name)}> ${JSON.stringify(word)}`, `${flag} ${JSON.stringify(flagged)}`]
  throw new BaxError('invalid_request', `${first} and ${second} exclude each other`, { hint: 'give one of them' })
}

/** Builds the error of a command that needs a shell session. */
export const noShell = () =>
  new BaxError('invalid_request', 'no shell session is named', {
    hint: 'name one with -s or BAX_SHELL; run "bax shell list" or "bax shell create"',
  })

const noSession = () =>
  new BaxError('invalid_request', 'no session is named, and a session of an embedded engine ends with its command', {
    hint: 'leave out --embedded',
  })

function showFrame({ io, settings }: Context, frame: Frame): void {
  if (settings.json) return print(io, JSON.stringify(frame))
  const { seq: _, ts, type, ...rest }: Frame & { readonly data?: unknown } = frame
  const facts = Object.entries(isMapping(rest.data) ? rest.data : rest).map(
    ([name, value]) => `${name}=${formatCell(value)}`,
  )
  print(io, [ts, type.padEnd(18), ...facts].join(' ').trimEnd())
}
