/** The latest completed crawl of each output folder: `bax crawl --since FOLDER` compares with it, so engines keep it. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { privateDir } from './files.ts'
import { isAside, readEach, readState, writeState } from './state-file.ts'
import { stateKinds } from './state-kinds.ts'

interface CrawlFolder {
  readonly folder: string
  readonly id: string
}

const filesIn = (stateDir: string): string => join(stateDir, 'crawl-folders')

const fileOf = (stateDir: string, folder: string): string =>
  join(filesIn(stateDir), `${createHash('sha256').update(folder).digest('hex').slice(0, 32)}.json`)

/** Saves the ID of the crawl that has written a folder. */
export async function saveCrawlOf(stateDir: string, folder: string, id: string): Promise<void> {
  await privateDir(filesIn(stateDir))
  await writeState(fileOf(stateDir, folder), { folder, id } satisfies CrawlFolder)
}

/** Returns the ID of the latest completed crawl of a folder; undefined if there is none. */
export const crawlOf = (stateDir: string, folder: string): string | undefined =>
  readState<CrawlFolder>(fileOf(stateDir, folder), stateKinds.crawlFolder)?.id

/** Returns the IDs of the latest crawls of all folders, and forgets folders that no longer exist. */
export async function crawlsOfFolders(stateDir: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (const name of await readdir(filesIn(stateDir)).catch(ignoreMissing)) {
    const path = join(filesIn(stateDir), name)
    if (isAside(name) || !name.endsWith('.json')) continue
    const [found] = readEach([path], () => readState<CrawlFolder>(path, stateKinds.crawlFolder)).good
    if (found && existsSync(found.folder)) ids.add(found.id)
    else if (found) await rm(path, { force: true })
  }
  return ids
}

function ignoreMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
