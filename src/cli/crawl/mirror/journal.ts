/** Journal of the files that a crawl has written, so that the next crawl can remove the files of a killed one. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { cannotWrite } from '../../output/write-output.ts'
import { type EarlierCrawl, readText } from './manifest-file.ts'

export const journalName = '.bax-crawl'
/** Name of a note for humans in the folder of an unfinished crawl. */
export const noteName = 'unfinished-crawl.txt'

/** A crawl that is writing to a folder. */
export interface WritingCrawl {
  readonly url: string
  readonly id: string
  readonly resume: string
}

export const noteText = ({ url, id, resume }: WritingCrawl): string =>
  `This folder contains a part of the crawl ${id} of ${url}.\nIt is running, or was interrupted. To resume it, run in the folder where it was started:\n\n  ${resume}\n`

const appending = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0)

/** Opens a new or existing journal: JSON lines with the crawl first, then the name of each file. */
export async function openJournal(folder: string, { url, id }: WritingCrawl): Promise<FileHandle> {
  // Not through a link, which could lead to any file of the user.
  const path = join(folder, journalName)
  const journal = await open(path, appending).catch((cause) => Promise.reject(cannotWrite(path, cause)))
  await addToJournal(journal, [{ url, id }])
  return journal
}

export async function addToJournal(journal: FileHandle, values: readonly unknown[]): Promise<void> {
  for (const value of values) await journal.write(`${JSON.stringify(value)}\n`)
}

export type UnfinishedCrawl = EarlierCrawl & { readonly id: string }

/** Returns the unfinished crawl in a folder, if there is one. */
export function readJournal(folder: string): UnfinishedCrawl | undefined {
  const values = (readText(join(folder, journalName)) ?? '').split('\n').flatMap(valueOf)
  const crawl = values.findLast((value): value is { url: string; id: string } => typeof value === 'object')
  return crawl && { ...crawl, files: values.filter((value) => typeof value === 'string') }
}

/** Parses a line; returns nothing for a truncated one. */
function valueOf(line: string): unknown[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
