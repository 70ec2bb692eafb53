/** Common parts of commands for one shell session: its flag, and its engine. */
import type { Command } from 'commander'
import { call, type CallOptions } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import { operationNamed } from '../context.ts'
import type { Io } from '../io.ts'
import type { Settings } from '../settings.ts'
import { withEngine } from '../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { needOf } from '../engine/need.ts'
import { addOperation, readOperation } from '../run-operation.ts'
import type { TypedArguments } from '../parse/values.ts'

interface ShellCall {
  readonly io: Io
  readonly settings: Settings
  readonly typed: TypedArguments
  readonly operation: OperationEntry
  /** Typed input, with the session. */
  readonly input: Record<string, unknown>
  readonly transport: Transport
  readonly options: CallOptions
  /** Calls the operation with the input and `more`. */
  ask(more?: Record<string, unknown>): Promise<unknown>
}

export interface ShellShape {
  readonly operation: string
  /** Fields of the operation for which no flag or word is added. */
  readonly without?: readonly string[]
  /** Replaces the CLI syntax of the operation, such as `shell download <path>`. */
  readonly words?: string
  readonly flags?: (command: Command) => void
}

/** Creates a command for one shell session. `shape` names the operation, and may change its words and flags. */
export const shellCommand =
  (shape: string | ShellShape, work: (call: ShellCall) => Promise<void | number>): TerminalCommand =>
  async (invocation) => {
    const { operation: name, without = [], words, flags }: ShellShape = typeof shape === 'string' ? { operation: shape } : shape // prettier-ignore
    const whole = operationNamed(invocation.manifest, name)
    const params = whole.params.filter((param) => !without.includes(param.name))
    const operation = { ...whole, cli: words ?? whole.cli, params }
    const { context, typed } = parseInvocation(invocation, (command) => {
      addOperation(command, operation)
      flags?.(command)
    })
    const { io, settings } = context
    const { input } = readOperation(context, operation, typed)
    return withEngine(context, needOf(operation, input), ({ transport }) => {
      const options = { signal: io.signal, strict: true }
      const ask = (more: Record<string, unknown> = {}) =>
        call(transport, operation.http, { ...input, ...more }, options)
      return work({ io, settings, typed, operation, input, transport, options, ask })
    })
  }
