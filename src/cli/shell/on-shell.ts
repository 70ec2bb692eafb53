/** What the commands on one session have in common: its flag, the home that has it, the way back. */
import type { Command } from 'commander'
import { call } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import { type Context, operationNamed } from '../context.ts'
import { openHome } from '../engine/locate-engine.ts'
import { begin, type Invocation } from '../parse/invocation.ts'
import { needOf } from '../engine/need.ts'
import { addOperation, readOperation } from '../run-operation.ts'
import type { Typed } from '../parse/values.ts'

interface ShellErrand {
  readonly context: Context
  readonly typed: Typed
  readonly operation: OperationEntry
  /** What was typed, with the session. */
  readonly input: Record<string, unknown>
  readonly transport: Transport
  /** Calls the operation; `more` is added to the input. */
  ask(more?: Record<string, unknown>): Promise<unknown>
}

interface ShellCommand {
  readonly operation: string
  /** Fields that are given in another way than by flags and words of their own. */
  readonly without?: readonly string[]
  readonly words?: string
  readonly flags?: (command: Command) => void
  work(errand: ShellErrand): Promise<number>
}

/** Parses, finds the session and its engine, works, and lets go of the engine. */
export async function onShell(
  invocation: Invocation,
  { operation: name, without = [], words, flags, work }: ShellCommand,
): Promise<number> {
  const whole = operationNamed(invocation.manifest, name)
  const operation = {
    ...whole,
    cli: words ?? whole.cli,
    params: whole.params.filter((param) => !without.includes(param.name)),
  }
  const { context, typed } = begin(invocation, (command) => {
    addOperation(command, operation)
    flags?.(command)
  })
  const { input } = readOperation(context, operation, typed)
  const home = openHome(context, needOf(operation, input))
  const { transport } = home
  try {
    const options = { signal: context.io.signal, strict: true }
    const ask = (more: Record<string, unknown> = {}) => call(transport, operation.http, { ...input, ...more }, options)
    return await work({ context, typed, operation, input, transport, ask })
  } finally {
    await transport.close()
  }
}
