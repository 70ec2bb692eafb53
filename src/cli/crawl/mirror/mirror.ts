/** A crawl as a folder of files: pages are written as they come; at the end links lead from file to file. */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CrawlEventData } from '../../../core/shapes/crawl.ts'
import { piecesOf } from '../../scrape/pieces.ts'
import { contentsName, contentsText } from './contents.ts'
import { Folder } from './folder.ts'
import {
  Journal,
  journalName,
  noteName,
  noteText,
  readJournal,
  type UnfinishedCrawl,
  type WritingCrawl,
} from './journal.ts'
import { type Addressing, Places, withLocalLinks } from './local-links.ts'
import {
  type EarlierCrawl,
  manifestName,
  manifestText,
  type ManifestPage,
  type Outcome,
  readManifest,
} from './manifest-file.ts'
import { Names } from './names.ts'
import { withLocalAnchors } from './local-anchors.ts'

export type CrawledPage = CrawlEventData['crawl.page']

/** What is remembered of a page until the end. */
interface Kept {
  readonly url: string
  /** Further addresses that led to it. */
  readonly also: readonly string[]
  readonly path: string
  readonly pieces: readonly { readonly format: string; readonly extension: string }[]
  readonly title: string | null
  readonly status: number | null
  readonly depth: number
  /** Plain text stays as it is. */
  readonly hasLinks: boolean
}

export class Mirror {
  readonly #folder: Folder
  readonly #addressing: Addressing
  readonly #names = new Names()
  /** By their place in the crawl. */
  readonly #kept = new Map<number, Kept>()
  /** Files of this crawl and of earlier ones; those that are no page's at the end are removed. */
  readonly #known: Set<string>
  #journal: Journal | undefined
  /** The folder was made for this crawl. */
  #isNew = false

  /** Start page of the earlier crawl that the folder holds. */
  readonly #held: string | undefined
  /** The crawl that was writing here and did not come to its end. */
  readonly unfinished: string | undefined

  private constructor(folder: Folder, addressing: Addressing, whole?: EarlierCrawl, broken?: UnfinishedCrawl) {
    this.#folder = folder
    this.#addressing = addressing
    this.#known = new Set([...(whole?.files ?? []), ...(broken?.files ?? [])])
    this.#held = (broken ?? whole)?.url
    this.unfinished = broken?.id
  }

  /** Nothing is written before `begin`. @throws BaxError `not_empty` for a folder that holds something else */
  static async open(root: string): Promise<Mirror> {
    const folder = new Folder(root)
    const [whole, broken] = [await readManifest(folder.root), await readJournal(folder.root)]
    if (!whole && !broken) await checkEmpty(folder.root)
    return new Mirror(folder, await import('../../../engine/crawl/queue/address.ts'), whole, broken)
  }

  /** @throws BaxError `not_empty` when the folder holds the crawl of another start page */
  checkStart(url: string): void {
    if (this.#held === undefined || this.#held === url) return
    throw new BaxError('not_empty', `${this.#folder.root} holds a crawl of ${this.#held}`, {
      hint: 'choose another folder with --output',
    })
  }

  /** Path of the folder. */
  get root(): string {
    return this.#folder.root
  }

  get size(): number {
    return this.#kept.size
  }

  /** Names the crawl in the folder, so that one whose process is killed can be resumed. */
  async begin(crawl: WritingCrawl): Promise<void> {
    if (this.#journal) return
    this.#isNew = (await mkdir(this.#folder.root, { recursive: true })) !== undefined
    this.#journal = await Journal.open(this.#folder.root, crawl)
    await this.#folder.write(noteName, noteText(crawl))
  }

  /** Leaves the folder as it was before a crawl that has given nothing. */
  async discard(): Promise<void> {
    await this.close()
    await this.#folder.remove(noteName)
    if (!this.unfinished) await this.#folder.remove(journalName)
    // One that holds anything stays.
    if (this.#isNew) await rmdir(this.#folder.root).catch(() => {})
  }

  /** Writes the files of a page; one that came before at the same place is forgotten. */
  async take({ index, depth, url: found, page }: CrawledPage): Promise<void> {
    const { metadata } = page
    const url = metadata.url ?? metadata.sourceURL
    const path = this.#names.take(url)
    const pieces = piecesOf({ success: true, data: page })
    const files = pieces.map(({ extension }) => `${path}.${extension}`)
    await this.#journal!.add(files)
    for (const [at, piece] of pieces.entries()) {
      this.#known.add(files[at]!)
      await this.#folder.write(files[at]!, 'bytes' in piece ? piece.bytes : piece.text)
    }
    this.#kept.set(index, {
      url,
      also: [...new Set([found, metadata.sourceURL, ...(metadata.redirects ?? []).map((hop) => hop.url)])].filter((other) => other !== url), // prettier-ignore
      path,
      pieces: pieces.map(({ format, extension }) => ({ format, extension })),
      title: metadata.title ?? null,
      status: metadata.status_code ?? null,
      depth,
      hasLinks: !metadata.content_type?.startsWith('text/plain'),
    })
  }

  /**
   * Leads the links to the files, gives pages of the same name their own, writes contents and manifest, and removes
   * what earlier crawls have left. Returns the path of the table of contents.
   */
  async finish(outcome: Outcome, onPage: (done: number) => void): Promise<string> {
    const kept = [...this.#kept].toSorted(([a], [b]) => a - b).map(([, page]) => page)
    const named = await this.#settleNames(kept)
    const places = new Places(this.#addressing)
    for (const { url, path } of named) places.add(url, path)
    for (const { also, path } of named) for (const other of also) places.add(other, path)
    const pages: ManifestPage[] = []
    for (const page of named) {
      onPage(pages.length)
      pages.push(await this.#settle(page, places))
    }
    await this.#folder.write(contentsName, contentsText(outcome.url, pages, outcome.errors))
    await this.#folder.write(manifestName, manifestText(outcome, pages))
    for (const file of pages.flatMap(filesOf)) this.#known.delete(file)
    for (const file of this.#known) await this.#folder.remove(file)
    await this.close()
    await this.#folder.remove(journalName)
    await this.#folder.remove(noteName)
    return join(this.#folder.root, contentsName)
  }

  /** Leaves the folder as it is; an end that was not reached can be made up for. */
  async close(): Promise<void> {
    const journal = this.#journal
    this.#journal = undefined
    await journal?.close()
  }

  /** The pages by the paths that they keep. */
  async #settleNames(kept: readonly Kept[]): Promise<Kept[]> {
    const named: Kept[] = []
    for (const page of kept) {
      const path = this.#names.final(page.url)
      for (const { extension } of path === page.path ? [] : page.pieces)
        await this.#folder.move(`${page.path}.${extension}`, `${path}.${extension}`)
      named.push({ ...page, path })
    }
    return named
  }

  async #settle(page: Kept, places: Places): Promise<ManifestPage> {
    const files: { format: string; file: string; sha256: string }[] = []
    for (const { format, extension } of page.pieces) {
      const file = `${page.path}.${extension}`
      const bytes = await this.#folder.read(file)
      const settled = page.hasLinks ? await rewritten(format, bytes, page, places) : undefined
      if (settled !== undefined && !bytes.equals(settled)) await this.#folder.write(file, settled)
      files.push({
        format,
        file,
        sha256: createHash('sha256')
          .update(settled ?? bytes)
          .digest('hex'),
      })
    }
    const [main, ...others] = files
    const { url, title, status, depth } = page
    return { url, file: main?.file ?? null, title, status, depth, sha256: main?.sha256 ?? null, ...(others.length > 0 && { files: others }) } // prettier-ignore
  }
}

/** The file with its links led to the files of its kind; undefined for formats that have none. */
async function rewritten(
  format: string,
  bytes: Buffer,
  { url, path }: Kept,
  places: Places,
): Promise<Buffer | undefined> {
  if (format === 'markdown') return Buffer.from(withLocalLinks(bytes.toString(), url, path, places))
  if (format === 'html') return Buffer.from(await withLocalAnchors(bytes.toString(), url, path, places))
  return undefined
}

const filesOf = ({ file, files = [] }: ManifestPage): string[] => [...(file === null ? [] : [file]), ...files.map((other) => other.file)] // prettier-ignore

async function checkEmpty(root: string): Promise<void> {
  const entries = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    const reason = error.code === 'ENOTDIR' ? 'it is not a folder' : error.code
    throw new BaxError('invalid_request', `cannot write into ${root}: ${reason}`, { cause: error })
  })
  if (entries.length === 0) return
  throw new BaxError('not_empty', `${root} is not empty, and not a crawl of bax`, {
    hint: 'choose another folder with --output',
  })
}
