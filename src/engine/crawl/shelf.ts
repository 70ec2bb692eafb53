/** The crawls on disk: one folder each, kept for a day, held by the process that works on it. */
import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BaxError } from '../../core/errors.ts'
import { privateDir, writeWhole } from '../../core/files.ts'
import { limits } from '../../core/limits.ts'
import type { HeldLock } from '../../core/lock-holder.ts'
import { askLock, holdLock, lockName, type LockName } from '../../core/process-lock.ts'
import { explainDir } from '../../core/state-dir.ts'
import type { CrawlInput } from '../../core/shapes/crawl.ts'
import { readJournal } from './journal.ts'
import { CrawlRecord } from './record.ts'

const isId = (text: string): boolean => /^crl_[\w-]{20}$/.test(text)

/** Files of one crawl. */
export interface CrawlFiles {
  readonly folder: string
  readonly journal: string
  readonly pages: string
}

/** A crawl as it is read from disk. */
export interface ShelvedCrawl {
  readonly record: CrawlRecord
  /** End of the last group of lines that was written whole. */
  readonly bytes: number
  readonly seq: number
}

interface Request {
  readonly input: CrawlInput
  readonly created_at: string
  /** The key that asked for it; nobody's without keys. */
  readonly owner?: string | null
}

export class CrawlShelf {
  readonly #folder: string

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'crawls')
  }

  files(id: string): CrawlFiles {
    const folder = join(this.#folder, id)
    return { folder, journal: join(folder, 'journal.ndjson'), pages: join(folder, 'pages.ndjson') }
  }

  /** Makes the folder of a new crawl; its journal does not exist yet. */
  async add(id: string, input: CrawlInput, owner: string | null): Promise<CrawlRecord> {
    const { folder } = this.files(id)
    const created = new Date().toISOString()
    try {
      await privateDir(folder)
      await writeWhole(
        join(folder, 'request.json'),
        JSON.stringify({ input, created_at: created, owner } satisfies Request),
      )
    } catch (error) {
      throw explainDir(error, dirname(this.#folder))
    }
    return new CrawlRecord({ id, input, owner }, created)
  }

  /** @throws BaxError `crawl_not_found` */
  async read(id: string): Promise<ShelvedCrawl> {
    const { folder, journal } = this.files(id)
    if (!isId(id)) throw notFound(id)
    try {
      const asked = JSON.parse(await readFile(join(folder, 'request.json'), 'utf8')) as Request
      const { input, created_at: created, owner = null } = asked
      return await readRecord(new CrawlRecord({ id, input, owner }, created), journal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw notFound(id)
      throw error
    }
  }

  /** Takes a crawl for this process; undefined when another one works on it. */
  hold(id: string): Promise<HeldLock | undefined> {
    return holdLock(this.#lock(id))
  }

  async isHeld(id: string): Promise<boolean> {
    return (await askLock(this.#lock(id))).held
  }

  async remove(id: string): Promise<void> {
    await rm(this.files(id).folder, { recursive: true, force: true })
  }

  /** All that are kept, whoever works on them. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    return names.filter(isId)
  }

  /** Removes the crawls whose time is over. */
  async sweep(): Promise<void> {
    for (const id of await this.ids()) if ((await this.#isOver(id)) && !(await this.isHeld(id))) await this.remove(id)
  }

  async #isOver(id: string): Promise<boolean> {
    const { folder, journal } = this.files(id)
    for (const path of [journal, folder]) {
      try {
        return Date.now() - (await stat(path)).mtimeMs > limits.crawl.keptMs
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return false
  }

  #lock(id: string): LockName {
    // Nobody else knows the id, and with it the name.
    const name = createHash('sha256').update(this.#folder).update(id).digest('hex').slice(0, 32)
    return lockName(name, tmpdir(), process.platform, process.version)
  }
}

async function readRecord(record: CrawlRecord, journal: string): Promise<ShelvedCrawl> {
  let group: Parameters<CrawlRecord['apply']>[0][] = []
  let bytes = 0
  let seq = 0
  for await (const { line, to } of readJournal(journal)) {
    group.push(line)
    if (!line.end) continue
    for (const whole of group) record.apply(whole)
    group = []
    bytes = to
    seq = line.seq
  }
  return { record, bytes, seq }
}

export const notFound = (id: string): BaxError =>
  new BaxError('crawl_not_found', `there is no crawl ${JSON.stringify(id)}`, { hint: 'a crawl is kept for 24 hours' })
