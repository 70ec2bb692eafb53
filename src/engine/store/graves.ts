/**
 * What is known of sessions beyond the end of their engine: that they were, and why they ended. Each engine writes a
 * journal of its own for each kind of session, a line for the beginning and one for the end of every one; the next
 * engine takes over the journals of those that are gone. A session without an end went down with its engine.
 */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineConfig } from '../../core/config.ts'
import { limits } from '../../core/limits.ts'

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
    for (const { path, lines } of this.#inheritance()) {
      for (const line of lines) {
        const { session, owner } = line
        const whole = endOf(session) === null ? { owner, session: lost(session, new Date(now).toISOString()) } : line
        if (this.#isFresh(whole, now)) taken.set(session.session_id, whole)
      }
      for (const [id, line] of taken) this.#kept.set(id, line)
      // What is told of by two is told of twice, and alike; what is told of by none is lost.
      if (this.#rewrite()) rmSync(path, { force: true })
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
    this.#write(() => appendFileSync(this.#ready(), `${JSON.stringify(line)}\n`, { mode: 0o600 }))
    this.#lines += 1
  }

  #inheritance(): { path: string; lines: Remembered<Session>[] }[] {
    return (whenThere(() => readdirSync(this.#folder)) ?? [])
      .filter((name) => name.endsWith(ending))
      .map((name) => join(this.#folder, name))
      .filter((path) => path !== this.#path)
      .flatMap((path) => {
        // Another engine may be taking it over at the same time.
        const text = whenThere(() => readFileSync(path, 'utf8'))
        if (text === undefined) return []
        const { head, lines } = readJournal<Session>(text)
        return head && isAlive(head) ? [] : [{ path, lines }]
      })
  }

  /** The journal with what still counts, in place of the one that there was; false when the disk does not take it. */
  #rewrite(): boolean {
    const now = Date.now()
    for (const [id, line] of this.#kept) if (!this.#isFresh(line, now)) this.#kept.delete(id)
    const text = [head(), ...[...this.#kept.values()].map((line) => JSON.stringify(line))].join('\n')
    this.#lines = 1 + this.#kept.size
    return this.#write(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      writeFileSync(`${this.#path}.tmp`, `${text}\n`, { mode: 0o600 })
      renameSync(`${this.#path}.tmp`, this.#path)
    })
  }

  /** The path of the journal, which has its first line. */
  #ready(): string {
    if (this.#lines === 0) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      appendFileSync(this.#path, `${head()}\n`, { mode: 0o600 })
      this.#lines = 1
    }
    return this.#path
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

function whenThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The newest line of each session; one that was cut off by the end of its engine is none. */
function readJournal<Session extends Told>(text: string): { head: Head | undefined; lines: Remembered<Session>[] } {
  const [first = '', ...rest] = text.split('\n')
  const lines = new Map<string, Remembered<Session>>()
  for (const one of rest) {
    const line = parsed<Remembered<Session>>(one)
    if (line?.session) lines.set(line.session.session_id, line)
  }
  return { head: parsed<Head>(first), lines: [...lines.values()] }
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

/** The engine that writes a journal. */
interface Head {
  readonly pid: number
  /** When the kernel began the process, which tells it from a later one of the same number; null where nobody says. */
  readonly began: string | null
}

const head = (): string => JSON.stringify({ pid: process.pid, began: beginningOf(process.pid) } satisfies Head)

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
