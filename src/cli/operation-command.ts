/** Commands that take their words and flags from one operation, and print its answer in a way of their own. */
import type { Command } from 'commander'
import type { Answer, CallName, Input, Unchecked } from '../client/calls.ts'
import type { CallOptions } from '../client/client.ts'
import type { OperationEntry } from '../operations/manifest.ts'
import { BaxError } from '../core/errors/errors.ts'
import { textFlag } from '../lines/typed.ts'
import { type Context, operationNamed } from './context.ts'
import { type LocatedEngine, withSession } from './engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from './parse/invocation.ts'
import { isShellOperation, needOf } from './engine/need.ts'
import { addOperation, readOperation, type TypedOperation } from './run-operation.ts'
import { inNamedSession } from './session/named-session.ts'
import { snakeCase, type TypedArguments } from '../lines/values.ts'

export interface OperationCall<Name extends CallName> extends Context {
  readonly context: Context
  readonly typed: TypedArguments
  readonly shape: OperationShape<Name>
  readonly operation: OperationEntry
  /** Typed input, with the session. */
  readonly input: Unchecked
  readonly engine: LocatedEngine
  readonly options: CallOptions
  /** Calls the operation with the input and `more`. */
  ask(more?: Partial<Input<Name>>): Promise<Answer<Name>>
}

/** A terminal command of an operation: its positional words are fields. */
export interface OperationShape<Name extends CallName = CallName> extends Omit<TerminalCommand, 'run'> {
  readonly operation: Name
  /** Fields of the operation for which no flag or word is added. */
  readonly without?: readonly string[]
  readonly flags?: (command: Command) => void
  /** Description of -s of an operation that uses a session only if this flag names it. */
  readonly sessionFlag?: string
  /** Whether the default session is created if it does not exist. */
  readonly opensSession?: boolean
}

/** Creates the command of an operation. */
export const operationCommand = <Name extends CallName>(
  shape: OperationShape<Name>,
  work: (call: OperationCall<Name>) => Promise<void | number>,
): TerminalCommand => ({
  ...shape,
  async run(invocation) {
    const { cli, operation: name, without = [], flags, sessionFlag, opensSession } = shape
    const whole = operationNamed(invocation.manifest, name)
    const left = sessionFlag === undefined ? without : [...without, 'session_id']
    const params = whole.params.filter((param) => !left.includes(param.name))
    const operation = { ...whole, cli: snakeCase(cli), params }
    const { context, typed } = parseInvocation(invocation, (command) => {
      addOperation(command, operation)
      flags?.(command)
      if (sessionFlag !== undefined) command.option('-s, --session <id|name>', sessionFlag)
    })
    const { input, source } =
      sessionFlag === undefined ? readOperation(context, operation, typed) : withNamed(context, operation, typed)
    // Errors about shell sessions have hints of their own.
    const hinted = isShellOperation(operation) ? undefined : source
    const opens = opensSession && source === 'default'
    return withSession(context, opens ? { when: 'start' } : needOf(operation, input), hinted, (engine) => {
      const options = { signal: context.io.signal, strict: true }
      const ask = (more: Partial<Input<Name>> = {}) => {
        const send = () => engine.ask(operation, { ...input, ...more }, options) as Promise<Answer<Name>>
        return opens ? inNamedSession(context, engine, { name: String(input['session_id']) }, send) : send()
      }
      return work({ ...context, context, typed, shape, operation, input, engine, options, ask })
    })
  },
})

/** Adds the session of the flag to the typed input. @throws BaxError `invalid_request` for an empty name */
function withNamed(context: Context, operation: OperationEntry, typed: TypedArguments): TypedOperation {
  const { input } = readOperation(context, operation, typed)
  const session = textFlag(typed.flags, 'session')
  if (session === undefined) return { input }
  if (session === '') throw new BaxError('invalid_request', '--session must not be empty')
  return { input: { ...input, session_id: session }, source: 'flag' }
}
