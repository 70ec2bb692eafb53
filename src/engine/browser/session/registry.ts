/** Sessions by ID and by name: the live ones, and for a while the ended ones. Names are unique per key. */
import { type Names, relayNamed, sessionNotFound } from '../../../core/access/relayed.ts'
import { createHash, randomBytes } from 'node:crypto'
import { anonymousCaller, type Caller, canSee, findByName } from '../../../core/access/caller.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { TombstoneStore } from '../../store/tombstones.ts'
import type { SessionSketch } from '../links/session-urls.ts'
import { EndedReplays } from '../replay/ended-replays.ts'
import type { LiveSession } from '../ports/session.ts'
import { Tombstone } from './tombstone.ts'
import { closedError } from './end-reasons.ts'
import type { Session } from './session.ts'

/** A session or its tombstone. */
export type KnownSession = Session | Tombstone

export class SessionRegistry {
  readonly #live = new Map<string, Session>()
  readonly #ended = new Map<string, KnownSession>()
  readonly #replays = new EndedReplays()
  readonly #tombstones: Pick<TombstoneStore<SessionSketch>, 'note' | 'takeOver'> | undefined
  /** Sessions by owner and name; null while the session is being created. */
  readonly #names = new Map<string, Session | null>()
  readonly #tickets = new Tickets()
  readonly #now: () => number
  readonly #relays: Names | undefined

  /** With `tombstones`, ended sessions survive the engine, and those of earlier engines are known. */
  constructor(
    now: () => number = Date.now,
    tombstones?: Pick<TombstoneStore<SessionSketch>, 'note' | 'takeOver'>,
    relays?: Names,
  ) {
    this.#now = now
    this.#tombstones = tombstones
    this.#relays = relays
  }

  /** Whether a live session of the owner has the name, or will have it. */
  hasName(name: string, owner: string | null): boolean {
    return this.#names.has(nameKey(owner, name))
  }

  get live(): Session[] {
    return [...this.#live.values()]
  }

  /** Sessions that ended within the last ten minutes. */
  get ended(): KnownSession[] {
    this.#loadTombstones()
    this.#expire()
    return [...this.#ended.values()]
  }

  /**
   * Reserves a name for a session that is being created; returns a function that releases it if creation fails.
   * @throws BaxError `conflict` when a live session or a connected browser of the same owner has the name.
   */
  reserveName(name: string | undefined, owner: string | null): () => void {
    if (name === undefined) return () => {}
    if (this.#relays?.hasName(name, owner)) throw relayNamed(name)
    const key = nameKey(owner, name)
    if (this.#names.has(key)) {
      throw new BaxError('conflict', `a live session is already named ${JSON.stringify(name)}`, {
        hint: 'choose another name, or close that session first',
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
    this.#tombstones?.note(session.sketch(), session.owner)
    if (session.name !== null) this.#names.set(nameKey(session.owner, session.name), session)
  }

  /** Moves a session to the ended ones and frees its name; the session may still be closing. */
  retire(session: Session): void {
    const { sessionId, owner, name } = session
    this.#live.delete(sessionId)
    if (name !== null && this.#names.get(nameKey(owner, name)) === session) this.#names.delete(nameKey(owner, name))
    this.#ended.set(sessionId, session)
    this.#replays.keep(session)
    this.#tombstones?.note(session.sketch(), owner)
    this.#expire()
  }

  /** Replaces an ended session by its tombstone, which frees the memory of the rest. */
  archive(session: Session): void {
    const { sessionId, owner, tokens } = session
    if (this.#ended.has(sessionId))
      this.#ended.set(sessionId, new Tombstone({ owner, session: session.sketch() }, tokens))
  }

  /**
   * Returns whether the ID or name belongs to a session visible to the caller: live, being created or ended. The name of
   * an ended one is free for others.
   */
  has(idOrName: string, caller: Caller): boolean {
    if (this.#names.has(nameKey(caller.keyId, idOrName))) return true
    const session = this.#seen(idOrName, caller)
    return session !== undefined && (session.sessionId === idOrName || this.#live.has(session.sessionId))
  }

  /** Returns a live session. @throws BaxError `session_closed` or `session_not_found`. */
  findLive(idOrName: string, caller: Caller): Session {
    const session = this.find(idOrName, caller)
    assertLive(session)
    return session
  }

  /** Returns a live session, or one that has ended and whose replay is kept. @throws BaxError as `findLive`. */
  findRecorded(idOrName: string, caller: Caller): LiveSession {
    const found = this.find(idOrName, caller)
    const kept = this.#replays.find(found.sessionId)
    if (kept) return kept
    assertLive(found)
    return found
  }

  /** Returns a session, live or ended. @throws BaxError `session_not_found`, also for sessions of other keys. */
  find(idOrName: string, caller: Caller): KnownSession {
    const session = this.#seen(idOrName, caller)
    if (session) return session
    throw sessionNotFound(idOrName)
  }

  /**
   * Returns a session for watching. With a frame token any caller may watch; without one, callers who see the session.
   * @throws BaxError `unauthorized`, `session_not_found`.
   */
  findForWatching(idOrName: string, token: string | null, caller: Caller): KnownSession {
    if (token === null && caller !== anonymousCaller) return this.find(idOrName, caller)
    const candidates = [...this.live, ...this.ended].filter((known) => [known.sessionId, known.name].includes(idOrName))
    const opened = candidates.find(({ tokens }) => tokens.grantOf(token ?? '') !== undefined)
    if (opened) return opened
    // Unauthenticated callers must not learn which sessions exist.
    if (caller !== anonymousCaller) this.find(idOrName, caller)
    throw new BaxError('unauthorized', 'the token is not the frame_token of this session', {
      hint: 'add ?token=FRAME_TOKEN from the response that created the session',
    })
  }

  /** Issues a ticket for a client of a live session. @throws BaxError `session_closed`, `session_not_found`. */
  issueTicket(idOrName: string, caller: Caller): string {
    return this.#tickets.issue(this.findLive(idOrName, caller).sessionId)
  }

  /** Returns the live session that a ticket is for, and invalidates the ticket. */
  redeemTicket(sessionId: string, ticket: string): Session | undefined {
    return this.#tickets.take(ticket) === sessionId ? this.#live.get(sessionId) : undefined
  }

  #seen(idOrName: string, caller: Caller): KnownSession | undefined {
    this.#loadTombstones()
    this.#expire()
    const live = this.#live.get(idOrName)
    if (live && canSee(caller, live.owner)) return live
    const byName = findByName(this.live, idOrName, caller)
    if (byName) return byName
    const ended = this.#ended.get(idOrName)
    if (ended && canSee(caller, ended.owner)) return ended
    return this.ended.findLast(({ name, owner }) => name === idOrName && canSee(caller, owner))
  }

  #loadTombstones(): void {
    for (const past of this.#tombstones?.takeOver() ?? []) this.#ended.set(past.session.session_id, new Tombstone(past))
  }

  #expire(): void {
    const oldest = this.#now() - limits.session.tombstoneMs
    for (const [id, { endedAt }] of this.#ended) if (endedAt!.getTime() < oldest) this.#ended.delete(id)
  }
}

export const isLive = (known: KnownSession): known is Session => known.endedAt === null

/** @throws BaxError `session_closed`. */
export function assertLive(known: KnownSession): asserts known is Session {
  const { sessionId, endedAt, endReason } = known
  if (endedAt !== null) throw closedError(sessionId, endReason!, endedAt)
}

const nameKey = (owner: string | null, name: string): string => JSON.stringify([owner, name])

interface Issued {
  readonly sessionId: string
  /** Expiry on the monotonic clock. */
  readonly until: number
}

/** One-time tickets, valid for a minute, for CDP clients that follow a URL and have no other credentials. */
export class Tickets {
  /** Issued tickets by their hash. */
  readonly #issued = new Map<string, Issued>()

  issue(sessionId: string): string {
    const now = performance.now()
    for (const [hash, { until }] of this.#issued) if (until <= now) this.#issued.delete(hash)
    const ticket = `ct_${randomBytes(32).toString('base64url')}`
    this.#issued.set(hashOf(ticket), { sessionId, until: now + limits.session.ticketMs })
    return ticket
  }

  /** Returns the ID of the session that the ticket is for, and invalidates the ticket. */
  take(ticket: string): string | undefined {
    const hash = hashOf(ticket)
    const issued = this.#issued.get(hash)
    this.#issued.delete(hash)
    return issued && issued.until > performance.now() ? issued.sessionId : undefined
  }
}

const hashOf = (ticket: string): string => createHash('sha256').update(ticket).digest('hex')
