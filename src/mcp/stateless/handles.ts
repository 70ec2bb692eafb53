/** Sessions of clients without a connection: every call names its session by the ID that an earlier one returned. */
import { randomUUID } from 'node:crypto'
import { BaxError } from '../../core/errors/errors.ts'
import type { Sessions } from '../held.ts'
import type { schemaOf } from '../schema.ts'

/** A kind of sessions, and what keeps those that are created. */
export interface HandleParts {
  /** Argument of tools that names one. */
  readonly field: 'session' | 'shell'
  /** Tool that creates one. */
  readonly creator: string
  /** Ends them with its process, if there is one. */
  readonly holder: Sessions | undefined
  readonly create: () => Promise<string>
  readonly end: (id: string) => Promise<void>
}

export class Handles implements Sessions {
  readonly #parts: HandleParts
  readonly #used = new Set<string>()
  readonly #created: Promise<string>[] = []

  constructor(parts: HandleParts) {
    this.#parts = parts
  }

  get field(): HandleParts['field'] {
    return this.#parts.field
  }

  find(name?: string): Promise<string> | undefined {
    if (name === undefined || !isId[this.#parts.field](name)) return undefined
    this.#used.add(name)
    return Promise.resolve(name)
  }

  /** Creates a session, unless an ID is given. */
  open(name?: string): Promise<string> {
    if (name !== undefined) return this.find(name) ?? Promise.reject(this.unknown(name))
    const { holder, create } = this.#parts
    const created = holder?.open(randomUUID(), true) ?? create()
    this.#created.push(created)
    return created
  }

  /** Lists the sessions that this call has used. */
  async list(): Promise<{ readonly name: string; readonly id: string }[]> {
    const ids = [...this.#used, ...(await this.created())]
    return ids.map((id) => ({ name: id, id }))
  }

  /** Returns the IDs of the sessions that this call has created. */
  async created(): Promise<string[]> {
    const settled = await Promise.allSettled(this.#created)
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  forget(id: string): void {
    this.#parts.holder?.forget(id)
  }

  /** Ends the sessions whose IDs the client never learns, because the call that created them has failed. */
  async close(): Promise<void> {
    for (const id of await this.created()) {
      this.forget(id)
      await this.#parts.end(id)
    }
  }

  /** Builds the error for a session that a call does not name by its ID. */
  unknown(name: string | undefined): BaxError {
    const { field, creator } = this.#parts
    const code = field === 'shell' ? 'shell_session_not_found' : 'session_not_found'
    const message = name === undefined ? `no ${field} is given` : `there is no ${field} ${JSON.stringify(name)}`
    return new BaxError(code, message, { hint: `pass the ${field} that ${creator} has returned` })
  }
}

/** IDs of sessions and of connected browsers, and of containers. */
export const isId = {
  session: (name: string): boolean => /^(?:ses|rly)_/.test(name),
  shell: (name: string): boolean => name.startsWith('sh_'),
}

/** How tools describe the arguments that name sessions by their IDs. */
const described = {
  session: { creator: 'browser_open', description: 'ID that browser_open returned' },
  shell: { creator: 'shell_exec', description: 'ID that shell_exec returned' },
}

/** Returns the schema of a tool's input for clients that pass IDs: they are required, except where one is created. */
export function withHandles(tool: string, schema: ReturnType<typeof schemaOf>): ReturnType<typeof schemaOf> {
  const properties = { ...(schema['properties'] as Record<string, object>) }
  const required = [...((schema['required'] as string[] | undefined) ?? [])]
  for (const [field, { creator, description }] of Object.entries(described)) {
    if (!properties[field]) continue
    const isOptional = tool === creator
    properties[field] = { ...properties[field], description: isOptional ? 'ID of an existing one' : description }
    if (!isOptional) required.push(field)
  }
  return { ...schema, properties, ...(required.length > 0 && { required }) }
}
