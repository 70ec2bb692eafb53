/**
 * What is known of sessions beyond the end of their engine: that they were, and why they ended. Each engine writes a
 * journal of its own below the state folder, a line for the beginning and one for the end of every session; the next
 * engine takes over the journals of those that are gone. A session without an end went down with its engine.
 */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineConfig } from '../../core/config.ts'
import { limits } from '../../core/limits.ts'
import type { SessionRecord } from '../../core/shapes/session.ts'
import type { EndReason } from './endings.ts'
import type { Bases } from './session.ts'

/** A session as it is told of, without the addresses that depend on who asks. */
export type SessionSketch = Omit<SessionRecord, 'sse_url' | 'cdp_url' | 'live_view_url'>

interface Line {
  readonly owner: string | null
  readonly session: SessionSketch
}

/** A session that another engine has had. */
export class Grave {
  readonly sessionId: string
  readonly name: string | null
  readonly owner: string | null
  readonly endedAt: Date
  readonly endReason: EndReason
  readonly #session: SessionSketch

  constructor({ owner, session }: Line) {
    this.sessionId = session.session_id
    this.name = session.name
    this.owner = owner
    this.endedAt = new Date(session.ended_at!)
    this.endReason = session.end_reason as EndReason
    this.#session = session
  }

  async record({ baseUrl }: Bases): Promise<SessionRecord> {
    const sse = `${baseUrl}/stream/sse?session_id=${this.sessionId}`
    return { ...this.#session, sse_url: sse, cdp_url: null, live_view_url: null }
  }

  /** It has ended. */
  async end(): Promise<void> {}
}

const ending = '.ndjson'

export class Graves {
  readonly #folder: string
  readonly #path: string
  readonly #log: EngineConfig['log']
  /** Of the sessions that are not forgotten yet; the journal is written anew from these when it has grown. */
  readonly #kept = new Map<string, Line>()
  #lines = 0
  #taken = false

  constructor({ stateDir, log }: Pick<EngineConfig, 'stateDir' | 'log'>) {
    this.#folder = join(stateDir, 'sessions')
    this.#path = join(this.#folder, `${process.pid}-${randomBytes(6).toString('hex')}${ending}`)
    this.#log = log
  }

  /** The sessions of engines that are gone, the first time it is asked; they are this engine's to tell of from then on. */
  takeOver(): Grave[] {
    if (this.#taken) return []
    this.#taken = true
    const found = this.#inheritance()
    const now = Date.now()
    for (const { path, lines } of found) {
      for (const line of lines) {
        const { session, owner } = line
        const whole = session.ended_at === null ? { owner, session: lost(session, now) } : line
        if (isFresh(whole, now)) this.#kept.set(session.session_id, whole)
      }
      // What is told of by two is told of twice, and alike; what is told of by none is lost.
      if (this.#rewrite()) rmSync(path, { force: true })
    }
    return [...this.#kept.values()].map((line) => new Grave(line))
  }

  /** A session has begun, or has ended. */
  note(session: SessionSketch, owner: string | null): void {
    const line: Line = { owner, session }
    this.#kept.set(session.session_id, line)
    if (this.#lines > limits.session.graveLines) {
      this.#rewrite()
      return
    }
    this.#write(() => appendFileSync(this.#ready(), `${JSON.stringify(line)}\n`, { mode: 0o600 }))
    this.#lines += 1
  }

  #inheritance(): { path: string; lines: Line[] }[] {
    let names: string[]
    try {
      names = readdirSync(this.#folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
    return names
      .filter((name) => name.endsWith(ending))
      .map((name) => join(this.#folder, name))
      .filter((path) => path !== this.#path)
      .flatMap((path) => {
        const { head, lines } = readJournal(path)
        return head && isAlive(head) ? [] : [{ path, lines }]
      })
  }

  /** The journal with what still counts, in place of the one that there was; false when the disk does not take it. */
  #rewrite(): boolean {
    const now = Date.now()
    for (const [id, line] of this.#kept) if (!isFresh(line, now)) this.#kept.delete(id)
    const text = [head(), ...[...this.#kept.values()].map((line) => JSON.stringify(line))].join('\n')
    this.#lines = this.#kept.size
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
    }
    return this.#path
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

const lost = (session: SessionSketch, now: number): SessionSketch => ({
  ...session,
  status: 'failed',
  tabs: 0,
  ended_at: new Date(now).toISOString(),
  end_reason: 'worker_lost' satisfies EndReason,
})

const isFresh = ({ session }: Line, now: number): boolean =>
  session.ended_at === null || Date.parse(session.ended_at) + limits.session.tombstoneMs > now

/** The newest line of each session; one that was cut off by the end of its engine is none. */
function readJournal(path: string): { head: Head | undefined; lines: Line[] } {
  const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n')
  const lines = new Map<string, Line>()
  for (const text of rest) {
    const line = parsed<Line>(text)
    if (line) lines.set(line.session.session_id, line)
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
