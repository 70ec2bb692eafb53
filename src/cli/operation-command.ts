/** Commands that take their words and flags from one operation, and print its answer in a way of their own. */
import type { Command } from 'commander'
import type { Answer, CallName, Input, Unchecked } from '../client/calls.ts'
import type { CallOptions } from '../client/client.ts'
import type { OperationEntry } from '../operations/manifest.ts'
import { type Context, operationNamed } from './context.ts'
import { type LocatedEngine, withSession } from './engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from './parse/invocation.ts'
import { isShellOperation, needOf } from './engine/need.ts'
import { addOperation, readOperation } from './run-operation.ts'
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
    const { cli, operation: name, without = [], flags, opensSession } = shape
    const whole = operationNamed(invocation.manifest, name)
    const params = whole.params.filter((param) => !without.includes(param.name))
    const operation = { ...whole, cli: snakeCase(cli), params }
    const { context, typed } = parseInvocation(invocation, (command) => {
      addOperation(command, operation)
      flags?.(command)
    })
    const { input, source } = readOperation(context, operation, typed)
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
