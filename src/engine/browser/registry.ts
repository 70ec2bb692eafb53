/** Sessions by id and by name: the live ones, and for a while the ended ones. */
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { closedError, type Session } from './session.ts'

export class Registry {
  readonly #live = new Map<string, Session>()
  readonly #ended = new Map<string, Session>()
  /** Names of live sessions and of those being made; null while it is being made. */
  readonly #names = new Map<string, Session | null>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  get live(): Session[] {
    return [...this.#live.values()]
  }

  /** Sessions that have ended within the last ten minutes. */
  get ended(): Session[] {
    this.#forget()
    return [...this.#ended.values()]
  }

  /**
   * Holds a name for a session that is being made; returns the way to give it back when none comes of it.
   * @throws BaxError `conflict` when a live session has it.
   */
  holdName(name: string | undefined): () => void {
    if (name === undefined) return () => {}
    if (this.#names.has(name)) {
      throw new BaxError('conflict', `a live session is named ${JSON.stringify(name)} already`, {
        hint: 'choose another requested_name, or close that session first',
        details: [{ path: 'requested_name', message: 'is in use' }],
      })
    }
    this.#names.set(name, null)
    return () => {
      if (this.#names.get(name) === null) this.#names.delete(name)
    }
  }

  add(session: Session): void {
    this.#live.set(session.sessionId, session)
    if (session.name !== null) this.#names.set(session.name, session)
  }

  /** Moves a session to the ended ones; its name is free again. */
  retire(session: Session): void {
    this.#live.delete(session.sessionId)
    if (session.name !== null && this.#names.get(session.name) === session) this.#names.delete(session.name)
    this.#ended.set(session.sessionId, session)
    this.#forget()
  }

  /** Whether the id or name is that of a session, live or ended. */
  has(idOrName: string): boolean {
    return this.#live.has(idOrName) || this.#names.has(idOrName) || this.#ended.has(idOrName)
  }

  /** @throws BaxError `session_closed` or `session_not_found`. */
  liveOne(idOrName: string): Session {
    const session = this.find(idOrName)
    if (session.endedAt !== null) throw closedError(session.sessionId, session.endReason!)
    return session
  }

  /** @throws BaxError `session_not_found`. */
  find(idOrName: string): Session {
    this.#forget()
    const session =
      this.#live.get(idOrName) ?? this.#names.get(idOrName) ?? this.#ended.get(idOrName) ?? this.#endedByName(idOrName)
    if (session) return session
    throw new BaxError('session_not_found', `no session has the id or name ${JSON.stringify(idOrName)}`, {
      hint: 'list them with `bax session list`',
    })
  }

  #endedByName(name: string): Session | undefined {
    return [...this.#ended.values()].findLast((session) => session.name === name)
  }

  #forget(): void {
    const oldest = this.#now() - limits.session.tombstoneMs
    for (const [id, { endedAt }] of this.#ended) if (endedAt!.getTime() < oldest) this.#ended.delete(id)
  }
}
