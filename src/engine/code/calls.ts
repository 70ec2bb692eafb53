/** Calls of code, each of which is a request of its own. */
import type { z } from 'zod'
import type { Command } from '../../core/operation/command.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { ofOneCommand } from '../../core/errors/one-command.ts'
import type { Ask } from '../../core/operation/call.ts'
import type { Operation } from '../../core/operation/operation.ts'
import { isMapping } from '../../core/text/is-mapping.ts'
import type { CodeInput } from '../../core/shapes/jobs/code.ts'
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { operations } from '../../operations/index.ts'
import { isValue } from '../../operations/manifest.ts'
import { codeFunctions, sessionPlacement } from '../../operations/code-functions.ts'
import type { CodeSession } from './session.ts'

type Fields = Record<string, unknown>

export class CodeCalls {
  readonly #ask: Ask
  readonly #session: CodeSession
  readonly #input: Pick<CodeInput, 'confirm' | 'context'>

  constructor(ask: Ask, session: CodeSession, input: Pick<CodeInput, 'confirm' | 'context'>) {
    this.#ask = ask
    this.#session = session
    this.#input = input
  }

  /** Calls a function; returns what it returns to the code. @throws BaxError with the code of the failure */
  async call(name: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const found = codeFunctions.get(name)!
    if ('command' in found) {
      const data = fieldsOf(found, args)
      return this.#runCommand(name, found.command, data, signal)
    }
    return this.#callOperation(found.operation, fieldsOf({ name, positional: [], required: [] }, args), signal)
  }

  async #runCommand(command: string, { result: shape }: Command, data: Fields, signal: AbortSignal): Promise<unknown> {
    const session_id = await this.#session.open(signal)
    const { context } = this.#input
    const input = { session_id, commands: [{ command, data }], ...(context && { context }) }
    const body = await this.#ask(operations.runCommands.http, input, signal).catch((error: unknown) => {
      throw error instanceof BaxError ? ofOneCommand(error) : error
    })
    const result = (body as CommandsResult).results[0]!
    if (!result.success) throw BaxError.fromBody(result, 'action_failed')
    return shape && result.data ? unwrapped(result.data, shape) : undefined
  }

  async #callOperation(operation: Operation, given: Fields, signal: AbortSignal): Promise<unknown> {
    const { http, input: shape, usesDefaultSession } = operation
    const fields = { ...given }
    const { confirm } = this.#input
    const placement = sessionPlacement(operation)
    if (placement && fields['session_id'] === undefined) {
      // Operations that open a session of their own use that of the code.
      const opens = placement.absent === undefined || placement.absent.on === 'new'
      const session = opens ? await this.#session.open(signal) : usesDefaultSession && this.#session.id
      if (session) fields['session_id'] = session
    }
    if (confirm && Object.hasOwn(shape.shape, 'confirm'))
      fields['confirm'] = [...new Set([...confirm, ...[fields['confirm'] ?? []].flat()])]
    const body = await this.#ask(http, fields, signal)
    if (isMapping(body) && body['success'] === false && body['message'] !== undefined) throw BaxError.fromBody(body)
    return body
  }
}

interface Arguments {
  readonly name: string
  readonly positional: readonly string[]
  readonly required: readonly string[]
}

/** Returns fields from arguments: the positional ones, then an object with others; or an object with all. */
function fieldsOf({ name, positional, required }: Arguments, args: readonly unknown[]): Fields {
  const [first] = args
  const isByName = args.length === 1 && isMapping(first) && required.every((field) => Object.hasOwn(first, field))
  const others = args.findIndex((value, at) => at >= required.length && isMapping(value))
  const count = isByName ? 0 : Math.min(positional.length, others === -1 ? Infinity : others)
  const [more = {}, ...rest] = args.slice(count)
  if (!isMapping(more ?? {}) || rest.length > 0) {
    const order = [...positional, 'an object with other fields'].join(', ')
    throw new BaxError('invalid_request', `${name} takes ${order}, or one object with all fields`)
  }
  const values = args.slice(0, count).map((value, at) => [positional[at]!, value] as const)
  return { ...(more as Fields | null), ...Object.fromEntries(values) }
}

/** Returns a result, in which a value stands without the name of its type. */
function unwrapped(data: Fields, shape: z.ZodType): unknown {
  if (!isMapping(data['result'])) return data
  const { value } = data['result']
  return isValue(shape) ? value : { ...data, result: value }
}
