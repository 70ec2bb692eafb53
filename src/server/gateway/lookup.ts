/** Finds the workers of objects. Lookups by ID are cached for some seconds; names can move to another object. */
import { anonymousCaller, type Caller, canSee, keylessCaller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { BoundKind, BoundObject, Directory } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'

interface Entry {
  readonly object: BoundObject
  /** Expiry on the monotonic clock. */
  readonly until: number
}

/** Caller of a lookup, and whether the request has a token. */
interface Asking {
  readonly caller: Caller
  readonly hasToken: boolean
}

const viewerOf = ({ caller, hasToken }: Asking): Caller =>
  hasToken || caller === anonymousCaller ? keylessCaller : caller

export class ObjectLookup {
  readonly #directory: Pick<Directory, 'find'>
  /** Objects by ID, least recently used first. */
  readonly #cache = new Map<string, Entry>()

  constructor(directory: Pick<Directory, 'find'>) {
    this.#directory = directory
  }

  /**
   * Finds an object that the caller may use. A token, which its worker checks, may open any object.
   * @throws BaxError `session_closed` if its worker was lost, `conflict` for a name that several keys use
   */
  async find(idOrName: string, kinds: readonly BoundKind[], asking: Asking): Promise<BoundObject | undefined> {
    const known = this.known(idOrName, kinds, asking)
    if (known) return known
    const object = await this.#ask(idOrName, kinds, viewerOf(asking), asking.caller)
    if (object?.lost_at !== undefined) throw lostError(object, object.lost_at)
    if (object) this.#keep(object)
    return object
  }

  /** Returns an object as `find` does, if it is in the cache. */
  known(id: string, kinds: readonly BoundKind[], asking: Asking): BoundObject | undefined {
    const cached = this.#cached(id)
    if (!cached || !kinds.includes(cached.kind) || !canSee(viewerOf(asking), cached.owner)) return undefined
    this.#keep(cached)
    return cached
  }

  /** Forgets an object whose worker did not respond. */
  forget(id: string): void {
    this.#cache.delete(id)
  }

  async #ask(idOrName: string, kinds: readonly BoundKind[], viewer: Caller, caller: Caller) {
    try {
      return await this.#directory.find(idOrName, kinds, viewer)
    } catch (error) {
      // Callers without a key must not learn that several objects have the name.
      if (caller === anonymousCaller && error instanceof BaxError && error.code === 'conflict') return undefined
      throw error
    }
  }

  #cached(id: string): BoundObject | undefined {
    const entry = this.#cache.get(id)
    if (!entry) return undefined
    if (entry.until > performance.now()) return entry.object
    this.#cache.delete(id)
    return undefined
  }

  #keep(object: BoundObject): void {
    const until = this.#cache.get(object.id)?.until ?? performance.now() + limits.gateway.cachedMs
    this.#cache.delete(object.id)
    this.#cache.set(object.id, { object, until })
    const [oldest] = this.#cache.keys()
    if (this.#cache.size > limits.gateway.cachedObjects && oldest !== undefined) this.#cache.delete(oldest)
  }
}

const nouns: Readonly<Record<BoundKind, string>> = {
  session: 'session',
  provision: 'provision',
  shell: 'shell session',
  exec: 'command',
  artifact: 'artifact',
  relay: 'relay session',
}

/** The error of a call for an object whose worker was lost. */
function lostError({ id, kind }: BoundObject, lostAt: string): BaxError {
  return new BaxError('session_closed', `the ${nouns[kind]} ${id} has ended: its worker was lost`, {
    hint: 'create a new one; the old one cannot be recovered',
    details: { reason: 'worker_lost', ended_at: lostAt },
  })
}
