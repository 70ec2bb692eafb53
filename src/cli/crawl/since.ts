/** Remembers which crawl has written a folder, so that a later one can be compared with it. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { privateDir } from '../../core/state/files.ts'
import { readState, writeState } from '../../core/state/state-file.ts'
import { stateKinds } from '../../core/state/state-kinds.ts'
import type { Context } from '../context.ts'

const foldersOf = (stateDir: string): string => join(stateDir, 'crawl-folders')

const fileOf = (stateDir: string, folder: string): string =>
  join(foldersOf(stateDir), `${createHash('sha256').update(folder).digest('hex').slice(0, 32)}.json`)

/** Saves the ID of the crawl that writes a folder. */
export async function saveCrawlOf(stateDir: string, folder: string, id: string): Promise<void> {
  await privateDir(foldersOf(stateDir))
  await writeState(fileOf(stateDir, folder), { folder, id })
}

/** Returns the ID of the crawl that is given by its ID or its folder. @throws BaxError `invalid_request` */
export async function crawlSince({ io, settings }: Context, text: string): Promise<string> {
  const folder = resolve(io.cwd, text)
  if (!existsSync(folder)) return text
  const found = readState<{ id: string }>(fileOf(settings.stateDir, folder), stateKinds.crawlFolder)
  if (found) return found.id
  throw new BaxError('invalid_request', `--since: no crawl of this machine has written ${text}`, {
    hint: 'pass the ID of the crawl, from "bax crawl list"',
  })
}
