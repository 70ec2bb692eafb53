/** Sessions that a connection opens for its client, and ends with itself. */
import { setTimeout as pause } from 'node:timers/promises'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { isEnded } from '../client/lease.ts'

/** Sessions of a client, by the names that it uses. */
export interface Sessions {
  /** Returns the ID of the session with a name; undefined if there is none. */
  find(name?: string): Promise<string> | undefined
  /**
   * Returns the ID of the session with a name, which is created if there is none. The client knows a handle only by its
   * ID, and it is forgotten when it has ended.
   */
  open(name?: string, isHandle?: boolean): Promise<string>
  list(): Promise<{ readonly name: string; readonly id: string }[]>
  /** Forgets a session that has ended or is about to, so that it can be opened again. */
  forget(id: string): void
  /** Ends those that nobody else can end. */
  close(): Promise<void>
}

/** Name of the session that is used when the client names none. */
const defaultName = 'default'

export class HeldSessions implements Sessions {
  readonly #ids = new Map<string, Promise<string>>()
  readonly #noun: string
  readonly #create: (isHandle: boolean) => Promise<string>
  readonly #end: (id: string) => Promise<void>
  #closed = false

  /** `create` returns the ID of a new session; `end` ends one. */
  constructor(noun: string, create: (isHandle: boolean) => Promise<string>, end: (id: string) => Promise<void>) {
    this.#noun = noun
    this.#create = create
    this.#end = end
  }

  find(name = defaultName): Promise<string> | undefined {
    return this.#ids.get(name)
  }

  open(name = defaultName, isHandle = false): Promise<string> {
    const held = this.#ids.get(name)
    if (held) return held
    if (this.#closed) throw new BaxError('cancelled', 'the connection has ended')
    if (this.#ids.size >= limits.mcp.held)
      throw new BaxError('too_many_sessions', `the connection has ${this.#ids.size} ${this.#noun}s`, {
        hint: `close a ${this.#noun} first`,
      })
    const opened = this.#create(isHandle)
    this.#ids.set(name, opened)
    opened.catch(() => this.#ids.delete(name))
    return opened
  }

  /** Returns the names and IDs of all sessions that are open. */
  async list(): Promise<{ readonly name: string; readonly id: string }[]> {
    const settled = await Promise.allSettled([...this.#ids].map(async ([name, id]) => ({ name, id: await id })))
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  forget(id: string): void {
    // Does not wait for sessions that are still being created.
    for (const [name, opened] of this.#ids)
      void opened.then(
        (one) => one === id && this.#ids.get(name) === opened && this.#ids.delete(name),
        () => {},
      )
  }

  /**
   * Ends all sessions, including those that are being created; repeats calls that may succeed later.
   * @throws BaxError that names the sessions that could not be ended
   */
  async close(): Promise<void> {
    this.#closed = true
    const opened = [...this.#ids.values()]
    this.#ids.clear()
    const failures = (await Promise.all(opened.map((id) => this.#endForSure(id)))).filter((one) => one !== undefined)
    const [first] = failures
    if (!first) return
    const list = failures.map(({ id, error }) => `${id} (${error.message})`).join(', ')
    throw new BaxError(first.error.code, `could not end the ${this.#noun} ${list}`, { cause: first.error })
  }

  /** Ends a session; returns the failure of the last attempt. */
  async #endForSure(opened: Promise<string>): Promise<{ id: string; error: BaxError } | undefined> {
    // A session that was not created needs no end.
    const id = await opened.catch(() => undefined)
    if (id === undefined) return undefined
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#end(id)
        return undefined
      } catch (thrown) {
        const error = asBaxError(thrown)
        if (isGone(error)) return undefined
        if (!error.retryable || attempt === limits.mcp.endAttempts) return { id, error }
        await pause(limits.mcp.endRetryMs)
      }
    }
  }
}

/** Returns whether a session is gone already. Those of a revoked key, and of an engine that ended, end with it. */
const isGone = (error: BaxError): boolean =>
  isEnded(error) || ['engine_unreachable', 'cancelled', 'unauthorized'].includes(error.code)
