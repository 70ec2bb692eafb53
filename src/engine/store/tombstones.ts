/**
 * Tombstones of sessions that outlive their engine. Each engine writes one journal per kind of session, with a line for
 * the start and one for the end of every session; the next engine takes over the journals of engines that have ended.
 * A session without an end went down with its engine.
 */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineConfig } from '../../core/config/config.ts'
import { isRunning, processStat } from '../../core/process/process-facts.ts'
import { temporaryPath } from '../../core/state/files.ts'
import { limits } from '../../core/limits/limits.ts'
import { listState, moveAside } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'

/** Record of a session. */
interface SessionLike {
  readonly session_id: string
}

/** Facts that the journal needs about a kind of session. */
export interface TombstoneKind<Session extends SessionLike> {
  /** Folder of its journals, below the state folder. */
  readonly folder: string
  /** Time to keep the tombstones of ended sessions, in milliseconds. */
  readonly keptMs: number
  /** Returns the ISO time of the end; null for a live session. */
  readonly endOf: (session: Session) => string | null
  /** Returns the record of a session that went down with its engine. */
  readonly lost: (session: Session, at: string) => Session
}

/** Record of a session with the ID of the key that created it. */
export interface StoredTombstone<Session extends SessionLike> {
  readonly owner: string | null
  readonly session: Session
}

const extension = '.ndjson'

export class TombstoneStore<Session extends SessionLike> {
  readonly #kind: TombstoneKind<Session>
  readonly #folder: string
  readonly #path: string
  readonly #log: EngineConfig['log']
  /** Unexpired entries by session ID, to rewrite the journal when it has grown. */
  readonly #kept = new Map<string, StoredTombstone<Session>>()
  /** Number of lines of the journal, including the header. */
  #lines = 0
  #taken = false

  constructor(kind: TombstoneKind<Session>, { stateDir, log }: Pick<EngineConfig, 'stateDir' | 'log'>) {
    this.#kind = kind
    this.#folder = join(stateDir, kind.folder)
    this.#path = join(this.#folder, `${process.pid}-${randomBytes(6).toString('hex')}${extension}`)
    this.#log = log
  }

  /** Returns the sessions of engines that have ended, on the first call; this engine keeps them from then on. */
  takeOver(): StoredTombstone<Session>[] {
    if (this.#taken) return []
    this.#taken = true
    const { endOf, lost } = this.#kind
    const now = Date.now()
    const taken = new Map<string, StoredTombstone<Session>>()
    for (const { path, lines, damaged } of this.#journalsOfEndedEngines()) {
      for (const line of lines) {
        const { session, owner } = line
        const ended = endOf(session) === null ? { owner, session: lost(session, new Date(now).toISOString()) } : line
        if (this.#isFresh(ended, now)) taken.set(session.session_id, ended)
      }
      for (const [id, line] of taken) this.#kept.set(id, line)
      // Delete a journal only after its entries are written: duplicates are harmless, losses are not.
      if (!this.#rewrite()) continue
      if (damaged) this.#setAside(path, 'has damaged lines')
      else rmSync(path, { force: true })
    }
    return [...taken.values()]
  }

  /** Records the start or the end of a session. */
  note(session: Session, owner: string | null): void {
    const line: StoredTombstone<Session> = { owner, session }
    this.#kept.set(session.session_id, line)
    if (this.#lines > limits.session.tombstoneLines) {
      this.#rewrite()
      return
    }
    this.#write(() => appendFileSync(this.#preparedPath(), `${encodeRecord(line)}\n`, { mode: 0o600 }))
    this.#lines += 1
  }

  #journalsOfEndedEngines() {
    return listState(this.#folder)
      .filter((name) => name.endsWith(extension))
      .map((name) => join(this.#folder, name))
      .filter((path) => path !== this.#path)
      .flatMap((path) => {
        const text = this.#textOf(path)
        if (text === undefined) return []
        const { head, ...journal } = readJournal<Session>(text)
        return head && isAlive(head) ? [] : [{ path, ...journal }]
      })
  }

  /** Reads a journal; undefined when it is unreadable, or another engine takes it over at the same time. */
  #textOf(path: string): string | undefined {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EISDIR') this.#setAside(path, 'is a folder')
      else if (code !== 'ENOENT')
        this.#log('warn', 'a list of ended sessions cannot be read', { file: path, error: code })
      return undefined
    }
  }

  #setAside(path: string, why: string): void {
    this.#log('warn', `a list of ended sessions ${why}`, { file: path, moved_to: moveAside(path) ?? null })
  }

  /** Rewrites the journal with the unexpired entries; returns false when that fails. */
  #rewrite(): boolean {
    const now = Date.now()
    for (const [id, line] of this.#kept) if (!this.#isFresh(line, now)) this.#kept.delete(id)
    const text = [head(), ...[...this.#kept.values()].map(encodeRecord)].join('\n')
    this.#lines = 1 + this.#kept.size
    return this.#write(() => {
      this.#makeFolder()
      const fresh = temporaryPath(this.#path)
      writeFileSync(fresh, `${text}\n`, { mode: 0o600 })
      renameSync(fresh, this.#path)
    })
  }

  /** Returns the path of the journal, and writes its header first if needed. */
  #preparedPath(): string {
    if (this.#lines === 0) {
      this.#makeFolder()
      appendFileSync(this.#path, `${head()}\n`, { mode: 0o600 })
      this.#lines = 1
    }
    return this.#path
  }

  /** Creates the folder in the state folder, but never a state folder that was deleted. */
  #makeFolder(): void {
    try {
      mkdirSync(this.#folder, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }

  #isFresh({ session }: StoredTombstone<Session>, now: number): boolean {
    const end = this.#kind.endOf(session)
    return end === null || Date.parse(end) + this.#kind.keptMs > now
  }

  /** Writes to disk; failures are logged, since they must not end a session. */
  #write(work: () => void): boolean {
    try {
      work()
      return true
    } catch (error) {
      this.#log('warn', 'could not store the record of a session', { error: (error as Error).message })
      return false
    }
  }
}

/**
 * Parses the newest line of each session; `damaged` tells whether there are unreadable lines. A truncated last line is
 * normal, since the engine may have been killed.
 */
function readJournal<Session extends SessionLike>(text: string) {
  const [first = '', ...rest] = text.split('\n')
  rest.pop()
  const lines = new Map<string, StoredTombstone<Session>>()
  const head = parsed<Head>(first)
  let damaged = head === undefined && text !== ''
  for (const one of rest) {
    const line = parsed<StoredTombstone<Session>>(one)
    if (line?.session) lines.set(line.session.session_id, line)
    else damaged = true
  }
  return { head, lines: [...lines.values()], damaged }
}

function parsed<T>(text: string): T | undefined {
  const record = decodeRecord<T>(text, stateKinds.tombstones)
  return 'content' in record ? record.content : undefined
}

/** Header of a journal: the engine that writes it. */
interface Head {
  readonly pid: number
  /** Start time of the process, which distinguishes it from a later one with the same PID; null where unavailable. */
  readonly began: string | null
}

const head = (): string => encodeRecord({ pid: process.pid, began: startTimeOf(process.pid) } satisfies Head)

const isAlive = ({ pid, began }: Head): boolean => isRunning(pid) && startTimeOf(pid) === began

const startTimeOf = (pid: number): string | null => processStat(pid)?.startTime ?? null
