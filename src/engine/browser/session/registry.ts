/** Sessions by id and by name: the live ones, and for a while the ended ones. Every key has names of its own. */
import { type Caller, nobody, sees } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { named } from '../../../core/access/owned.ts'
import type { Graves } from '../../store/graves.ts'
import { Grave, type SessionSketch } from './tombstone.ts'
import { closedError } from './endings.ts'
import type { Session } from './session.ts'
import { Tickets } from './tickets.ts'

/** A session, or what is remembered of one. */
export type Known = Session | Grave

export class Registry {
  readonly #live = new Map<string, Session>()
  readonly #ended = new Map<string, Known>()
  readonly #graves: Pick<Graves<SessionSketch>, 'note' | 'takeOver'> | undefined
  /** Names of live sessions and of those being made, with their owners. */
  readonly #names = new Map<string, Session | null>()
  readonly #tickets = new Tickets()
  readonly #now: () => number

  /** With graves its sessions are remembered beyond the end of the engine, and those of earlier engines known. */
  constructor(now: () => number = Date.now, graves?: Pick<Graves<SessionSketch>, 'note' | 'takeOver'>) {
    this.#now = now
    this.#graves = graves
  }

  get live(): Session[] {
    return [...this.#live.values()]
  }

  /** Sessions that have ended within the last ten minutes. */
  get ended(): Known[] {
    this.#remember()
    this.#forget()
    return [...this.#ended.values()]
  }

  /**
   * Holds a name for a session that is being made; returns the way to give it back when none comes of it.
   * @throws BaxError `conflict` when a live session of the same owner has it.
   */
  holdName(name: string | undefined, owner: string | null): () => void {
    if (name === undefined) return () => {}
    const key = nameKey(owner, name)
    if (this.#names.has(key)) {
      throw new BaxError('conflict', `a live session is named ${JSON.stringify(name)} already`, {
        hint: 'choose another requested_name, or close that session first',
        details: [{ path: 'requested_name', message: 'is in use' }],
      })
    }
    this.#names.set(key, null)
    return () => {
      if (this.#names.get(key) === null) this.#names.delete(key)
    }
  }

  add(session: Session): void {
    this.#live.set(session.sessionId, session)
    this.#graves?.note(session.sketch(), session.owner)
    if (session.name !== null) this.#names.set(nameKey(session.owner, session.name), session)
  }

  /** Moves a session to the ended ones; its name is free again, and it may still be closing. */
  retire(session: Session): void {
    const { sessionId, owner, name } = session
    this.#live.delete(sessionId)
    if (name !== null && this.#names.get(nameKey(owner, name)) === session) this.#names.delete(nameKey(owner, name))
    this.#ended.set(sessionId, session)
    this.#graves?.note(session.sketch(), owner)
    this.#forget()
  }

  /** Keeps of an ended session what is told of it: the rest is heavy. */
  bury(session: Session): void {
    const { sessionId, owner, tokens } = session
    if (this.#ended.has(sessionId)) this.#ended.set(sessionId, new Grave({ owner, session: session.sketch() }, tokens))
  }

  /** Whether the id or name is that of a session that the caller sees, live or being made or ended. */
  has(idOrName: string, caller: Caller): boolean {
    return this.#names.has(nameKey(caller.keyId, idOrName)) || this.#seen(idOrName, caller) !== undefined
  }

  /** @throws BaxError `session_closed` or `session_not_found`. */
  liveOne(idOrName: string, caller: Caller): Session {
    const session = this.find(idOrName, caller)
    assertLive(session)
    return session
  }

  /** @throws BaxError `session_not_found`, also for what is somebody else's. */
  find(idOrName: string, caller: Caller): Known {
    const session = this.#seen(idOrName, caller)
    if (session) return session
    throw new BaxError('session_not_found', `no session has the id or name ${JSON.stringify(idOrName)}`, {
      hint: 'list them with `bax session list`',
    })
  }

  /**
   * The session that may be watched: by its frame token, whoever shows it; without one, by who sees it.
   * @throws BaxError `unauthorized`, `session_not_found`.
   */
  watched(idOrName: string, token: string | null, caller: Caller): Known {
    if (token === null && caller !== nobody) return this.find(idOrName, caller)
    const meant = [...this.live, ...this.ended].filter((known) => [known.sessionId, known.name].includes(idOrName))
    const opened = meant.find(({ tokens }) => tokens.grantOf(token ?? '') !== undefined)
    if (opened) return opened
    // Who is nobody is not told what there is.
    if (caller !== nobody) this.find(idOrName, caller)
    throw new BaxError('unauthorized', 'the token is not the frame_token of this session', {
      hint: 'add ?token=FRAME_TOKEN; the answer that created the session has it',
    })
  }

  /** A token for a client that is sent on to a live session. @throws BaxError `session_closed`, `session_not_found`. */
  ticket(idOrName: string, caller: Caller): string {
    return this.#tickets.issue(this.liveOne(idOrName, caller).sessionId)
  }

  /** The live session that a ticket is for; the ticket is worth nothing from then on. */
  ticketed(sessionId: string, ticket: string): Session | undefined {
    return this.#tickets.take(ticket) === sessionId ? this.#live.get(sessionId) : undefined
  }

  #seen(idOrName: string, caller: Caller): Known | undefined {
    this.#remember()
    this.#forget()
    const live = this.#live.get(idOrName)
    if (live && sees(caller, live.owner)) return live
    const byName = named(this.live, idOrName, caller)
    if (byName) return byName
    const ended = this.#ended.get(idOrName)
    if (ended && sees(caller, ended.owner)) return ended
    return this.ended.findLast(({ name, owner }) => name === idOrName && sees(caller, owner))
  }

  #remember(): void {
    for (const past of this.#graves?.takeOver() ?? []) this.#ended.set(past.session.session_id, new Grave(past))
  }

  #forget(): void {
    const oldest = this.#now() - limits.session.tombstoneMs
    for (const [id, { endedAt }] of this.#ended) if (endedAt!.getTime() < oldest) this.#ended.delete(id)
  }
}

/** @throws BaxError `session_closed`. */
export function assertLive(known: Known): asserts known is Session {
  const { sessionId, endedAt, endReason } = known
  if (endedAt !== null) throw closedError(sessionId, endReason!)
}

const nameKey = (owner: string | null, name: string): string => JSON.stringify([owner, name])
