/** The crawl that `--since` compares with, given by its ID or by the folder that it has written. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Unchecked } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { crawlOf } from '../../core/state/crawl-folders.ts'
import type { Context } from '../context.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { note } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { startCrawl } from './crawl-calls.ts'
import { readJournal } from './mirror/journal.ts'
import { readManifest } from './mirror/manifest-file.ts'

/** Returns the ID of the crawl; undefined for a folder without one, after a note. @throws BaxError `invalid_request` */
export async function crawlSince({ io, settings }: Context, text: string): Promise<string | undefined> {
  const folder = resolve(io.cwd, text)
  const isMissing = !existsSync(folder)
  if (isMissing && text.startsWith('crl_')) return text
  if (!isMissing && !statSync(folder).isDirectory()) throw noCrawl(text)
  if (isMissing || readdirSync(folder).length === 0) {
    note(io, `${text} contains no crawl yet: this is the first one, and nothing is compared`)
    return undefined
  }
  const id = crawlOf(settings.stateDir, folder)
  if (id !== undefined) return id
  if (!readManifest(folder) && !readJournal(folder)) throw noCrawl(text)
  await showWarning(io, { warning: `no completed crawl of ${text} is stored: nothing is compared` })
  return undefined
}

const noCrawl = (text: string) =>
  new BaxError('invalid_request', `--since: no crawl of this machine has written ${text}`, {
    hint: 'pass the folder of a crawl, or the ID of one from "bax crawl list"',
  })

/** Starts a crawl; without a comparison, after a warning, if the latest crawl of its folder is no longer stored. */
export async function startSince(context: Context, engine: LocatedEngine, input: Unchecked, since: unknown) {
  const { since: id, ...rest } = input
  try {
    return { ...(await startCrawl(context, engine, input)), isCompared: id !== undefined }
  } catch (error) {
    const isGone = error instanceof BaxError && error.code === 'crawl_not_found'
    if (!isGone || id === undefined || id === since) throw error
    await showWarning(context.io, {
      warning: `the latest crawl of ${String(since)} is no longer stored: nothing is compared`,
    })
    return { ...(await startCrawl(context, engine, rest)), isCompared: false }
  }
}
