/** Where the library has the operations and commands: derived from their declarations, for methods and their types. */
import { argumentsOf } from '../core/operation/positional.ts'
import { route } from '../core/operation/route.ts'
import { attributeOf } from '../lines/values.ts'
import type { CommandEntry, OperationEntry } from '../operations/manifest.ts'

/** Objects that the library returns, with the field that identifies them and the word that their methods omit. */
export const kinds = {
  session: { id: 'session_id', noun: /sessions?/i },
  shell: { id: 'session_id', noun: /shells?/i },
  relay: { id: 'id', noun: /relays?/i },
} as const

export type Kind = keyof typeof kinds

/** The connection, one of its groups such as `bax.sessions`, or an object of a kind. */
export type Owner = 'bax' | Kind | `${Kind}s`

export interface Place {
  readonly owner: Owner
  readonly method: string
}

type Routed = Pick<OperationEntry, 'name' | 'http' | 'params'>

const takes = ({ params }: Routed, field: string): boolean => params.some(({ name }) => name === field)

function kindOf(operation: Routed): Kind | undefined {
  const { path } = route(operation.http)
  if (path.startsWith('/shell/')) return 'shell'
  if (path.startsWith('/relay/')) return 'relay'
  return path.startsWith('/sessions') || takes(operation, 'session_id') ? 'session' : undefined
}

/**
 * Returns the methods of an operation: `getSessionLog` is `session.getLog`, `createShell` is `shells.create`, and
 * `search`, which needs no session, is a method of the connection, too.
 */
export function placesOf(operation: Routed): Place[] {
  const { name, http } = operation
  const kind = kindOf(operation)
  const places: Place[] = []
  if (!kind || /^\/v\d/.test(route(http).path)) places.push({ owner: 'bax', method: name })
  if (!kind) return places
  const rest = name.replace(kinds[kind].noun, '')
  const method = rest.charAt(0).toLowerCase() + rest.slice(1)
  return [...places, { owner: takes(operation, kinds[kind].id) ? kind : `${kind}s`, method }]
}

/** Operations whose method of the same place does more than call them. */
export const extended: ReadonlySet<string> = new Set(['crawl', 'createSession', 'createShell'])

/** Returns the method of a command: its arguments, and an object with the other fields. */
export const methodOf = ({ name, params, positional }: Pick<CommandEntry, 'name' | 'params' | 'positional'>) => ({
  method: attributeOf({ name }),
  ...argumentsOf(params, positional),
  hasOptions: params.some((param) => !param.required),
})
