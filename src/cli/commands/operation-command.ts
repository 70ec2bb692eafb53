/** Commands that take their words and flags from one operation, and print its answer in a way of their own. */
import type { Command } from 'commander'
import { call, type CallOptions } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import { type Context, operationNamed } from '../context.ts'
import { type LocatedEngine, withSession } from '../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { isShellOperation, needOf } from '../engine/need.ts'
import { addOperation, readOperation } from '../run-operation.ts'
import { inNamedSession } from '../session/named-session.ts'
import type { TypedArguments } from '../parse/values.ts'

export interface OperationCall extends Context {
  readonly context: Context
  readonly typed: TypedArguments
  readonly operation: OperationEntry
  /** Typed input, with the session. */
  readonly input: Record<string, unknown>
  readonly engine: LocatedEngine
  readonly transport: Transport
  readonly options: CallOptions
  /** Calls the operation with the input and `more`. */
  ask(more?: Record<string, unknown>): Promise<unknown>
}

export interface OperationShape {
  readonly operation: string
  /** Fields of the operation for which no flag or word is added. */
  readonly without?: readonly string[]
  /** Replaces the CLI syntax of the operation, such as `shell download <path>`. */
  readonly words?: string
  readonly flags?: (command: Command) => void
  /** Whether the default session is created if it does not exist. */
  readonly opensSession?: boolean
}

/** Creates the command of an operation. `shape` names the operation, and may change its words and flags. */
export const operationCommand =
  (shape: string | OperationShape, work: (call: OperationCall) => Promise<void | number>): TerminalCommand =>
  async (invocation) => {
    const { operation: name, without = [], words, flags, opensSession }: OperationShape = typeof shape === 'string' ? { operation: shape } : shape // prettier-ignore
    const whole = operationNamed(invocation.manifest, name)
    const params = whole.params.filter((param) => !without.includes(param.name))
    const operation = { ...whole, cli: words ?? whole.cli, params }
    const { context, typed } = parseInvocation(invocation, (command) => {
      addOperation(command, operation)
      flags?.(command)
    })
    const { input, source } = readOperation(context, operation, typed)
    // Errors about shell sessions have hints of their own.
    const hinted = isShellOperation(operation) ? undefined : source
    const opens = opensSession && source === 'default'
    return withSession(context, opens ? { when: 'start' } : needOf(operation, input), hinted, (engine) => {
      const { transport } = engine
      const options = { signal: context.io.signal, strict: true }
      const ask = (more: Record<string, unknown> = {}) => {
        const send = () => call(transport, operation.http, { ...input, ...more }, options)
        return opens ? inNamedSession(context, transport, { name: String(input['session_id']) }, send) : send()
      }
      return work({ ...context, context, typed, operation, input, engine, transport, options, ask })
    })
  }
