/** The functions of `bax`: the commands and operations, derived from their declarations. */
import { catalogue } from '../commands/index.ts'
import type { Command } from '../core/operation/command.ts'
import type { Operation } from '../core/operation/operation.ts'
import { argumentsOf } from '../core/operation/positional.ts'
import { route } from '../core/operation/route.ts'
import { paramsOf } from '../core/operation/schema-params.ts'
import { operations } from './index.ts'

export type CodeFunction =
  | {
      readonly name: string
      readonly command: Command
      /** Fields that are arguments in this order, as in the terminal; the required ones come first. */
      readonly positional: readonly string[]
      readonly required: readonly string[]
    }
  | { readonly name: string; readonly operation: Operation }

/** Code must neither approve its own actions, nor evade its limits by running further code. */
const withheld: ReadonlySet<Operation> = new Set<Operation>([
  operations.approveAction,
  operations.rejectAction,
  operations.runCode,
])

/** Whether an operation is a function. Those for clients of Firecrawl repeat others, and texts are for monitoring. */
const isFunction = (operation: Operation): boolean =>
  !withheld.has(operation) && operation.text === undefined && !route(operation.http).path.startsWith('/v2/')

/** Returns where an operation runs that uses a session, which is that of the code unless the code names one. */
export const sessionPlacement = ({ runs }: Operation) =>
  runs.on === 'object' && runs.field === 'session_id' && runs.kinds.includes('session') ? runs : undefined

/** All functions by name; a command takes precedence over an operation of the same name. */
export const codeFunctions: ReadonlyMap<string, CodeFunction> = new Map<string, CodeFunction>([
  ...Object.entries<Operation>(operations)
    .filter(([, operation]) => isFunction(operation))
    .map(([name, operation]) => [name, { name, operation }] as const),
  ...[...catalogue].map(
    ([name, command]) => [name, { name, command, ...argumentsOf(paramsOf(command.data), command.positional) }] as const,
  ),
])
