/** Runs an operation from the terminal: words and flags to its input, its answer to text. */
import type { Command } from 'commander'
import { call, follow } from '../client/client.ts'
import { BaxError } from '../core/errors.ts'
import { pathFields, route } from '../core/operation.ts'
import type { Param } from '../core/params.ts'
import type { Frame } from '../core/stream.ts'
import type { OperationEntry } from '../operations/manifest.ts'
import { explainSession, noEngineFor, sessionFor, type SessionSource } from './chosen-session.ts'
import type { Context } from './context.ts'
import { addParam, addWord, flagValue, type Typed, wordValue } from './flags.ts'
import { type Home, type Need, openHome } from './home.ts'
import { begin, type Invocation } from './invocation.ts'
import { print } from './io.ts'
import { cell, showAnswer } from './output.ts'

/** Names of the fields that an operation takes as words, in their order. */
export const positionals = (operation: OperationEntry): string[] =>
  [...(operation.cli ?? '').matchAll(/[<[](\w+)/g)].map(([, name]) => name!)

/** Runs a command that is made from an operation alone. */
export async function runOperation(invocation: Invocation, operation: OperationEntry): Promise<number> {
  const { context, typed } = begin(invocation, (command) => addOperation(command, operation))
  const { input, source } = readOperation(context, operation, typed)
  const home = openHome(context, needOf(operation, input))
  try {
    const { signal } = context.io
    if (operation.stream) {
      const frames = follow(home.transport, operation.http, input, { signal, strict: true })
      for await (const frame of frames) showFrame(context, frame)
    } else {
      const body = await call(home.transport, operation.http, input, { signal, strict: true })
      await showAnswer(context.io, operation, body, context.settings.json)
    }
    return 0
  } catch (error) {
    throw explainSession(error, source)
  } finally {
    await home.transport.close()
  }
}

/** Adds the words and flags of an operation. */
export function addOperation(command: Command, operation: OperationEntry): void {
  const words = positionals(operation)
  const param = (name: string) => operation.params.find((param) => param.name === name)!
  for (const [at, name] of words.entries()) addWord(command, param(name), at === words.length - 1)
  for (const param of operation.params) {
    if (words.includes(param.name)) continue
    if (param.name === 'session_id') addSessionFlag(command)
    else addParam(command, param)
  }
}

/** The flag that names a session; without it BAX_SESSION and `bax session use` are asked. */
export const addSessionFlag = (command: Command): Command =>
  command.option('-s, --session <id|name>', 'session to use (BAX_SESSION, or the choice of `bax session use`)')

/** The input that was typed, with the session that it works on. */
export function readOperation(
  context: Context,
  operation: OperationEntry,
  typed: Typed,
): { input: Record<string, unknown>; source?: SessionSource } {
  const words = positionals(operation)
  const { cwd } = context.io
  const value = (param: Param) => {
    const at = words.indexOf(param.name)
    return at === -1 ? flagValue(param, typed.flags, cwd) : wordValue(param, typed.words[at], cwd)
  }
  const named = operation.params.filter((param) => param.name !== 'session_id' || words.includes('session_id'))
  const input = Object.fromEntries(named.map((param) => [param.name, value(param)]))
  if (words.includes('session_id')) return { input, source: 'flag' }
  const wanted = operation.params.find(({ name }) => name === 'session_id')
  if (!wanted) return { input }
  const found = sessionFor(context.settings, homeName(context), typed.flags['session'] as string | undefined)
  if (!found && wanted.required) throw noSession()
  return found ? { input: { ...input, session_id: found.id }, source: found.source } : { input }
}

const noSession = () =>
  new BaxError('invalid_request', 'no session is named', {
    hint: 'name one with -s, BAX_SESSION or `bax session use`; `bax session list` shows them',
  })

/** The name of the home that the settings lead to. */
export const homeName = (context: Context): Home['name'] => openHome(context, { when: 'ask' }).name

/** What an operation needs when no server is named. */
export function needOf(operation: OperationEntry, input: Record<string, unknown>): Need {
  if (operation.name === 'getEngineStatus' || operation.name === 'stopEngine') return runningEngine
  if (typeof input['session_id'] === 'string') return { when: 'running', absent: noEngineFor(input['session_id']) }
  if (outlivesItself(operation)) return { when: 'start' }
  return { when: 'ask' }
}

/** Whether what an operation makes lives on after the command: then an engine must, too. */
export const outlivesItself = ({ http }: OperationEntry): boolean => {
  const { method, path } = route(http)
  return method === 'POST' && (path === '/sessions' || path === '/commands') && pathFields(path).length === 0
}

export const runningEngine: Need = {
  when: 'running',
  anyVersion: true,
  absent: () =>
    new BaxError('engine_unreachable', 'no local engine is running', {
      hint: '`bax session create` or any `bax do …` starts one',
    }),
}

function showFrame({ io, settings }: Context, frame: Frame): void {
  if (settings.json) return print(io, JSON.stringify(frame))
  const { seq: _, ts, type, ...rest } = frame as Frame & { data?: Record<string, unknown> }
  const facts = Object.entries(rest.data ?? rest).map(([name, value]) => `${name}=${cell(value)}`)
  print(io, [ts, type.padEnd(18), ...facts].join(' ').trimEnd())
}
