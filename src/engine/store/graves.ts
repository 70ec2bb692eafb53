/**
 * What is known of sessions beyond the end of their engine: that they were, and why they ended. Each engine writes a
 * journal of its own for each kind of session, a line for the beginning and one for the end of every one; the next
 * engine takes over the journals of those that are gone. A session without an end went down with its engine.
 */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineConfig } from '../../core/config/config.ts'
import { temporaryBeside } from '../../core/state/files.ts'
import { limits } from '../../core/limits/limits.ts'
import { listState, moveAside } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import { decodeRecord, encodeRecord } from '../../core/state/state-record.ts'

/** A session as it is told of. */
interface Told {
  readonly session_id: string
}

/** What the journal has to know of a kind of sessions. */
export interface GraveKind<Session extends Told> {
  /** Of its journals, below the state folder. */
  readonly folder: string
  /** How long an end can be asked about, in milliseconds. */
  readonly keptMs: number
  /** When it ended, as an ISO time; null for one that lives. */
  readonly endOf: (session: Session) => string | null
  /** The same session when it has gone down with its engine. */
  readonly lost: (session: Session, at: string) => Session
}

/** A session that has been, and the key that it was made under. */
export interface Remembered<Session extends Told> {
  readonly owner: string | null
  readonly session: Session
}

const ending = '.ndjson'

export class Graves<Session extends Told> {
  readonly #kind: GraveKind<Session>
  readonly #folder: string
  readonly #path: string
  readonly #log: EngineConfig['log']
  /** Of the sessions that are not forgotten yet; the journal is written anew from these when it has grown. */
  readonly #kept = new Map<string, Remembered<Session>>()
  /** Of the journal, the first one included. */
  #lines = 0
  #taken = false

  constructor(kind: GraveKind<Session>, { stateDir, log }: Pick<EngineConfig, 'stateDir' | 'log'>) {
    this.#kind = kind
    this.#folder = join(stateDir, kind.folder)
    this.#path = join(this.#folder, `${process.pid}-${randomBytes(6).toString('hex')}${ending}`)
    this.#log = log
  }

  /** The sessions of engines that are gone, the first time it is asked; they are this engine's to tell of from then on. */
  takeOver(): Remembered<Session>[] {
    if (this.#taken) return []
    this.#taken = true
    const { endOf, lost } = this.#kind
    const now = Date.now()
    const taken = new Map<string, Remembered<Session>>()
    for (const { path, lines, damaged } of this.#inheritance()) {
      for (const line of lines) {
        const { session, owner } = line
        const whole = endOf(session) === null ? { owner, session: lost(session, new Date(now).toISOString()) } : line
        if (this.#isFresh(whole, now)) taken.set(session.session_id, whole)
      }
      for (const [id, line] of taken) this.#kept.set(id, line)
      // What is told of by two is told of twice, and alike; what is told of by none is lost.
      if (!this.#rewrite()) continue
      if (damaged) this.#setAside(path, 'has damaged lines')
      else rmSync(path, { force: true })
    }
    return [...taken.values()]
  }

  /** A session has begun, or has ended. */
  note(session: Session, owner: string | null): void {
    const line: Remembered<Session> = { owner, session }
    this.#kept.set(session.session_id, line)
    if (this.#lines > limits.session.graveLines) {
      this.#rewrite()
      return
    }
    this.#write(() => appendFileSync(this.#ready(), `${encodeRecord(line)}\n`, { mode: 0o600 }))
    this.#lines += 1
  }

  #inheritance(): (Journal<Session> & { path: string })[] {
    return listState(this.#folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(this.#folder, name))
      .filter((path) => path !== this.#path)
      .flatMap((path) => {
        const text = this.#textOf(path)
        if (text === undefined) return []
        const { head, ...journal } = readJournal<Session>(text)
        return head && isAlive(head) ? [] : [{ path, ...journal }]
      })
  }

  /** Undefined when another engine is taking the journal over at the same time, and for what cannot be read. */
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

  /** The journal with what still counts, in place of the one that there was; false when the disk does not take it. */
  #rewrite(): boolean {
    const now = Date.now()
    for (const [id, line] of this.#kept) if (!this.#isFresh(line, now)) this.#kept.delete(id)
    const text = [head(), ...[...this.#kept.values()].map(encodeRecord)].join('\n')
    this.#lines = 1 + this.#kept.size
    return this.#write(() => {
      this.#makeFolder()
      const fresh = temporaryBeside(this.#path)
      writeFileSync(fresh, `${text}\n`, { mode: 0o600 })
      renameSync(fresh, this.#path)
    })
  }

  /** The path of the journal, which has its first line. */
  #ready(): string {
    if (this.#lines === 0) {
      this.#makeFolder()
      appendFileSync(this.#path, `${head()}\n`, { mode: 0o600 })
      this.#lines = 1
    }
    return this.#path
  }

  /** Makes the folder in the state folder, but never a state folder that was deleted. */
  #makeFolder(): void {
    try {
      mkdirSync(this.#folder, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }

  #isFresh({ session }: Remembered<Session>, now: number): boolean {
    const end = this.#kind.endOf(session)
    return end === null || Date.parse(end) + this.#kind.keptMs > now
  }

  /** That a session is not remembered must not be its end. */
  #write(work: () => void): boolean {
    try {
      work()
      return true
    } catch (error) {
      this.#log('warn', 'a session will not be remembered', { error: (error as Error).message })
      return false
    }
  }
}

/** What a journal says. */
interface Journal<Session extends Told> {
  readonly lines: Remembered<Session>[]
  /** There are lines that cannot be read. */
  readonly damaged: boolean
}

/** The newest line of each session; the last line may be cut off by the end of its engine, which is no damage. */
function readJournal<Session extends Told>(text: string): Journal<Session> & { head: Head | undefined } {
  const [first = '', ...rest] = text.split('\n')
  rest.pop()
  const lines = new Map<string, Remembered<Session>>()
  const head = parsed<Head>(first)
  let damaged = head === undefined && text !== ''
  for (const one of rest) {
    const line = parsed<Remembered<Session>>(one)
    if (line?.session) lines.set(line.session.session_id, line)
    else damaged = true
  }
  return { head, lines: [...lines.values()], damaged }
}

function parsed<T>(text: string): T | undefined {
  const record = decodeRecord<T>(text, stateKinds.tombstones)
  return 'content' in record ? record.content : undefined
}

/** The engine that writes a journal. */
interface Head {
  readonly pid: number
  /** When the kernel began the process, which tells it from a later one of the same number; null where nobody says. */
  readonly began: string | null
}

const head = (): string => encodeRecord({ pid: process.pid, began: beginningOf(process.pid) } satisfies Head)

function isAlive({ pid, began }: Head): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return beginningOf(pid) === began
}

function beginningOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program's name stands in brackets and may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
