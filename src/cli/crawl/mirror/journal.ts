/** What a crawl has written so far, in a file beside it: a crawl that was killed leaves no file that nobody knows. */
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EarlierCrawl } from './manifest-file.ts'

export const journalName = '.bax-crawl'
/** For whoever looks into the folder of a crawl that has not ended. */
export const noteName = 'unfinished-crawl.txt'

/** A crawl that writes into a folder. */
export interface WritingCrawl {
  readonly url: string
  readonly id: string
  /** The command that goes on with it. */
  readonly resume: string
}

/** Returns what the note in the folder says. */
export const noteText = ({ url, id, resume }: WritingCrawl): string =>
  `This folder holds a part of the crawl ${id} of ${url}.\nIt is running, or was cut off. To resume it, run in the folder where it was started:\n\n  ${resume}\n`

/** The first line names the crawl, each other one a file. */
export class Journal {
  readonly #file: FileHandle

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Goes on with a journal that is there. */
  static async open(folder: string, { url, id }: WritingCrawl): Promise<Journal> {
    const file = await open(join(folder, journalName), 'a')
    const journal = new Journal(file)
    await journal.#line({ url, id })
    return journal
  }

  async add(files: readonly string[]): Promise<void> {
    for (const file of files) await this.#line(file)
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  async #line(value: unknown): Promise<void> {
    await this.#file.write(`${JSON.stringify(value)}\n`)
  }
}

export type UnfinishedCrawl = EarlierCrawl & { readonly id: string }

/** The crawl that was writing into a folder and did not come to its end. */
export async function readJournal(folder: string): Promise<UnfinishedCrawl | undefined> {
  const text = await readFile(join(folder, journalName), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  const values = (text ?? '').split('\n').flatMap(valueOf)
  const crawl = values.findLast((value): value is { url: string; id: string } => typeof value === 'object')
  return crawl && { ...crawl, files: values.filter((value) => typeof value === 'string') }
}

/** The last line may have been cut off. */
function valueOf(line: string): unknown[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
