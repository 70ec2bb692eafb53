/** Crawls on disk: one folder each, kept for a limited time, locked by the process that runs it. */
import { createHash } from 'node:crypto'
import { copyFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { privateDir } from '../../../core/state/files.ts'
import { limits } from '../../../core/limits/limits.ts'
import { crawlsOfFolders } from '../../../core/state/crawl-folders.ts'
import { crawlOutput } from '../../../core/state/local-files.ts'
import type { HeldLock } from '../../../core/process/file-lock.ts'
import { queryLock, acquireLock, lockName, type LockName } from '../../../core/process/process-lock.ts'
import { explainDir } from '../../../core/state/state-dir.ts'
import type { CrawlInput } from '../../../core/shapes/crawl.ts'
import {
  asideName,
  isAside,
  moveAside,
  readEach,
  readState,
  UnusableFile,
  writeState,
} from '../../../core/state/state-file.ts'
import { stateKinds } from '../../../core/state/state-kinds.ts'
import { fileLog } from './file-log.ts'
import { type CrawlRequest, readJournal } from './journal.ts'
import { applyCommits } from './stored-crawl.ts'
import type { CrawlLog, CrawlLogs } from './log.ts'
import { DamagedPage, PageFile } from './page-file.ts'
import { CrawlRecord } from './record.ts'

const isId = (text: string): boolean => /^crl_[\w-]{20}$/.test(text)

export class CrawlStore {
  readonly #folder: string
  /** The last crawl that was viewed: clients request its pages part by part. */
  #viewed: { readonly stamp: string | undefined; readonly record: CrawlRecord } | undefined

  constructor(stateDir: string) {
    this.#folder = join(stateDir, 'crawls')
  }

  files(id: string) {
    const folder = join(this.#folder, id)
    return { folder, journal: join(folder, 'journal.ndjson'), pages: join(folder, 'pages.ndjson') }
  }

  logs(id: string): CrawlLogs {
    const { journal, pages } = this.files(id)
    return { journal: fileLog(journal), pages: fileLog(pages) }
  }

  /** Creates the folder of a new crawl, without a journal. */
  async add(id: string, input: CrawlInput, owner: string | null): Promise<CrawlRecord> {
    const { folder } = this.files(id)
    const created = new Date().toISOString()
    try {
      await privateDir(folder)
      await writeState(this.#request(id), { input, created_at: created, owner } satisfies CrawlRequest)
    } catch (error) {
      throw explainDir(error, dirname(this.#folder))
    }
    return new CrawlRecord({ id, input, owner }, created)
  }

  /** Reads a crawl. @throws BaxError `crawl_not_found`, UnusableFile when its request cannot be read */
  async read(id: string): Promise<CrawlRecord> {
    if (!isId(id)) throw notFound(id)
    const { journal } = this.logs(id)
    const { input, created_at: created, owner = null } = await this.#requestOf(id)
    return readRecord(new CrawlRecord({ id, input, owner }, created), journal)
  }

  /** Returns a crawl as `read` does; its journal is read only if it has changed. Do not change the result. */
  async view(id: string): Promise<CrawlRecord> {
    if (!isId(id)) throw notFound(id)
    const stamp = await this.stampOf(id)
    if (this.#viewed?.record.id !== id || this.#viewed.stamp !== stamp || stamp === undefined)
      this.#viewed = { stamp, record: await this.read(id) }
    return this.#viewed.record
  }

  /** Returns a text that changes with the journal of a crawl; undefined without a journal. */
  async stampOf(id: string): Promise<string | undefined> {
    try {
      const { mtimeMs, size } = await stat(this.files(id).journal)
      return `${mtimeMs} ${size}`
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** Reads the request from its own file or, if that is damaged, from the first line of the journal. */
  async #requestOf(id: string): Promise<CrawlRequest> {
    const path = this.#request(id)
    let failure: UnusableFile | undefined
    try {
      const request = readState<CrawlRequest>(path, stateKinds.crawlRequest)
      if (request) return request
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error
      failure = error
    }
    const movedName = (await namesIn(this.files(id).folder)).find(
      (name) => name.startsWith('request.json') && isAside(name),
    )
    if (!failure && movedName === undefined) throw notFound(id)
    const request = await this.#firstLine(id)
    if (!request) throw failure ?? new UnusableFile(path, stateKinds.crawlRequest, 'is damaged', movedName)
    if (failure?.movedTo !== undefined) await writeState(path, request)
    return request
  }

  async #firstLine(id: string): Promise<CrawlRequest | undefined> {
    try {
      for await (const { line } of readJournal(this.logs(id).journal)) return line.own?.request
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    return undefined
  }

  #request(id: string): string {
    return join(this.files(id).folder, 'request.json')
  }

  /** Keeps a copy of a damaged journal under another name. */
  async keepDamaged({ id, bytes }: CrawlRecord): Promise<void> {
    const { journal } = this.files(id)
    // The readable lines stay in use.
    if (bytes > 0) await copyFile(journal, asideName(journal))
    else moveAside(journal)
  }

  /** Returns the indexes in `data` of pages that can no longer be read. */
  async damagedPages(record: CrawlRecord): Promise<number[]> {
    const file = await PageFile.forReading(this.logs(record.id).pages)
    const damaged: number[] = []
    try {
      for (let index = 0; index < record.completed; index += 1)
        if ((await file.tryRead(record.locationOf(index))) instanceof DamagedPage) damaged.push(index)
    } finally {
      await file.close()
    }
    return damaged
  }

  /** Returns the folder that the CLI writes the pages to, if it is known. */
  outputOf(id: string): { output?: string } {
    const path = crawlOutput(dirname(this.#folder), id)
    const [found] = readEach([path], () => readState<{ folder: string }>(path, stateKinds.crawlOutput)).good
    return found ? { output: found.folder } : {}
  }

  /** Locks a crawl for this process; resolves with undefined if another process holds the lock. */
  hold(id: string): Promise<HeldLock | undefined> {
    return acquireLock(this.#lock(id))
  }

  /** Reads the record of a crawl of any process, and whether it is running. */
  async stateOf(id: string, read: () => Promise<CrawlRecord>): Promise<{ record: CrawlRecord; isRunning: boolean }> {
    const record = await read()
    if (record.finished) return { record, isRunning: false }
    if (await this.isHeld(id)) return { record, isRunning: true }
    // Its process may have finished it after it was read.
    return { record: await read(), isRunning: false }
  }

  async isHeld(id: string): Promise<boolean> {
    return (await queryLock(this.#lock(id))).held
  }

  async remove(id: string): Promise<void> {
    await rm(this.files(id).folder, { recursive: true, force: true })
  }

  async ids(): Promise<string[]> {
    const names = await namesIn(this.#folder)
    return names.filter(isId)
  }

  async sweep(): Promise<void> {
    const ofFolders = await crawlsOfFolders(dirname(this.#folder))
    const { keptMs, folderKeptMs } = limits.crawl
    for (const id of await this.ids())
      if ((await this.#isOlder(id, ofFolders.has(id) ? folderKeptMs : keptMs)) && !(await this.isHeld(id)))
        await this.remove(id)
  }

  async #isOlder(id: string, ms: number): Promise<boolean> {
    const { folder, journal } = this.files(id)
    for (const path of [journal, folder]) {
      try {
        return Date.now() - (await stat(path)).mtimeMs > ms
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return false
  }

  #lock(id: string): LockName {
    // The ID is secret, and with it the name of the lock.
    const name = createHash('sha256').update(this.#folder).update(id).digest('hex').slice(0, 32)
    return lockName(name, tmpdir(), process.platform, process.version)
  }
}

const isMissing = (error: unknown): boolean => /^(?:ENOENT|EISDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}

/** Reads the journal into the record of a crawl. */
async function readRecord(record: CrawlRecord, journal: CrawlLog): Promise<CrawlRecord> {
  await applyCommits(record, journal).catch((error: unknown) => {
    // A crawl without a journal has to start again.
    if (!isMissing(error)) throw error
  })
  if (record.seq === 0) record.isDamaged = true
  return record
}

export const notFound = (id: string): BaxError =>
  new BaxError('crawl_not_found', `there is no crawl ${JSON.stringify(id)}`, { hint: 'crawls are kept for 24 hours' })
