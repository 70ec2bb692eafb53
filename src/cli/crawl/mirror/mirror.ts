/** Stores a crawl as a folder of files: pages are written as they arrive, links are rewritten at the end. */
import { createHash } from 'node:crypto'
import { type FileHandle, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CrawlEventData } from '../../../core/shapes/crawl.ts'
import { piecesOf } from '../../scrape/pieces.ts'
import { type ChangedPage, changesName, changesText, diffName } from './changes-file.ts'
import { contentsName, contentsText } from './contents.ts'
import { Folder } from './folder.ts'
import {
  addToJournal,
  journalName,
  noteName,
  noteText,
  openJournal,
  readJournal,
  type UnfinishedCrawl,
  type WritingCrawl,
} from './journal.ts'
import { type Addressing, PagePaths, withLocalLinks, withLocalAnchors } from './local-links.ts'
import {
  type EarlierCrawl,
  manifestName,
  manifestText,
  type ManifestPage,
  type Outcome,
  readManifest,
} from './manifest-file.ts'
import { Names } from './page-path.ts'

export type CrawledPage = CrawlEventData['crawl.page']

/** Facts about a page that are needed at the end. */
interface StoredPage extends Pick<ManifestPage, 'url' | 'title' | 'status' | 'depth' | 'terms'> {
  readonly aliases: readonly string[]
  readonly path: string
  readonly pieces: readonly { readonly format: string; readonly extension: string }[]
  /** False for plain text. */
  readonly hasLinks: boolean
}

export class Mirror {
  readonly #folder: Folder
  readonly #addressing: Addressing
  readonly #names = new Names()
  readonly #pages = new Map<number, StoredPage>()
  /** By the index of the page. */
  readonly #changed = new Map<number, ChangedPage>()
  /** Files of this crawl and of earlier ones; those without a page are removed at the end. */
  readonly #files: Set<string>
  #journal: FileHandle | undefined
  #isNew = false

  /** Start page of the earlier crawl in the folder. */
  readonly #earlierUrl: string | undefined
  /** ID of an unfinished crawl in the folder. */
  readonly unfinished: string | undefined

  private constructor(folder: Folder, addressing: Addressing, complete?: EarlierCrawl, unfinished?: UnfinishedCrawl) {
    this.#folder = folder
    this.#addressing = addressing
    this.#files = new Set([...(complete?.files ?? []), ...(unfinished?.files ?? [])])
    this.#earlierUrl = (unfinished ?? complete)?.url
    this.unfinished = unfinished?.id
  }

  /** Opens a folder; writes nothing. @throws BaxError `not_empty` if the folder contains something else */
  static async open(root: string): Promise<Mirror> {
    const folder = new Folder(root)
    const [complete, unfinished] = [readManifest(folder.root), readJournal(folder.root)]
    if (!complete && !unfinished) await checkEmpty(folder.root)
    return new Mirror(folder, await import('../../../engine/crawl/queue/url-identity.ts'), complete, unfinished)
  }

  /** @throws BaxError `not_empty` if the folder contains the crawl of another start page */
  checkStart(url: string): void {
    if (this.#earlierUrl === undefined || this.#earlierUrl === url) return
    throw new BaxError('not_empty', `${this.#folder.root} contains a crawl of ${this.#earlierUrl}`, {
      hint: 'choose another folder with --output',
    })
  }

  get root(): string {
    return this.#folder.root
  }

  get size(): number {
    return this.#pages.size
  }

  /** Records the crawl in the folder, so that it can be resumed. @throws BaxError `not_empty`, like `checkStart` */
  async begin(crawl: WritingCrawl): Promise<void> {
    this.checkStart(crawl.url)
    if (this.#journal) return
    this.#isNew = await this.#folder.create()
    this.#journal = await openJournal(this.#folder.root, crawl)
    await this.#folder.write(noteName, noteText(crawl))
  }

  /** Undoes `begin`, for a crawl without pages. */
  async discard(): Promise<void> {
    await this.close()
    await this.#folder.remove(noteName)
    if (!this.unfinished) await this.#folder.remove(journalName)
    // Only an empty folder is removed.
    if (this.#isNew) await rmdir(this.#folder.root).catch(() => {})
  }

  /** Writes the files of a page that is compared with its earlier version, whose diff goes into `changes.diff`. */
  async takeCompared({ page: { changeTracking, ...page }, ...found }: CrawledPage): Promise<void> {
    const diff = changeTracking?.diff?.text
    this.#changed.delete(found.index)
    if (diff !== undefined) {
      const file = diffName(found.index)
      await this.#note(file)
      await this.#folder.write(file, diff)
      this.#changed.set(found.index, { url: found.url, diff: file })
    }
    await this.take({ ...found, page })
  }

  /** Writes the files of a page, and replaces an earlier page with the same index. */
  async take({ index, depth, url: found, page }: CrawledPage): Promise<void> {
    const { metadata } = page
    const url = metadata.url ?? metadata.sourceURL
    const path = this.#names.take(url)
    const pieces = piecesOf({ success: true, data: page })
    await this.#note(...pieces.map(({ extension }) => `${path}.${extension}`))
    for (const piece of pieces) {
      const file = `${path}.${piece.extension}`
      await this.#folder.write(file, 'bytes' in piece ? piece.bytes : piece.text)
    }
    const { content_signals, licenses } = metadata
    const terms = (content_signals ?? licenses) && { content_signals, licenses }
    this.#pages.set(index, {
      url,
      aliases: [...new Set([found, metadata.sourceURL, ...(metadata.redirects ?? []).map((hop) => hop.url)])].filter(
        (other) => other !== url,
      ),
      path,
      pieces: pieces.map(({ format, extension }) => ({ format, extension })),
      title: metadata.title ?? null,
      status: metadata.status_code ?? null,
      depth,
      ...(terms && { terms }),
      hasLinks: !metadata.content_type?.startsWith('text/plain'),
    })
  }

  /** Renames and links files, writes contents and manifest, removes earlier files; returns the path of the contents. */
  async finish(outcome: Outcome, onPage: (done: number) => void): Promise<string> {
    const sorted = [...this.#pages].toSorted(([a], [b]) => a - b).map(([, page]) => page)
    const named = await this.#assignNames(sorted)
    const places = new PagePaths(this.#addressing)
    for (const { url, path } of named) places.add(url, path)
    for (const { aliases, path } of named) for (const other of aliases) places.add(other, path)
    const pages: ManifestPage[] = []
    for (const page of named) {
      onPage(pages.length)
      pages.push(await this.#rewriteLinks(page, places))
    }
    await this.#folder.write(contentsName, contentsText(outcome.url, pages, outcome.errors))
    if (outcome.changes) {
      await this.#note(changesName)
      const changed = [...this.#changed].toSorted(([a], [b]) => a - b).map(([, page]) => page)
      await this.#folder.write(changesName, changesText(outcome.changes, changed, this.#folder))
      this.#files.delete(changesName)
    }
    await this.#folder.write(manifestName, manifestText(outcome, pages))
    for (const file of pages.flatMap(filesOf)) this.#files.delete(file)
    for (const file of this.#files) await this.#folder.remove(file)
    await this.close()
    await this.#folder.remove(journalName)
    await this.#folder.remove(noteName)
    return join(this.#folder.root, contentsName)
  }

  /** Records the names of files before they are written. */
  async #note(...files: string[]): Promise<void> {
    await addToJournal(this.#journal!, files)
    for (const file of files) this.#files.add(file)
  }

  /** Closes the journal; an unfinished crawl can still be resumed. */
  async close(): Promise<void> {
    const journal = this.#journal
    this.#journal = undefined
    await journal?.close()
  }

  async #assignNames(pages: readonly StoredPage[]): Promise<StoredPage[]> {
    const named: StoredPage[] = []
    for (const page of pages) {
      const path = this.#names.final(page.url)
      for (const { extension } of path === page.path ? [] : page.pieces)
        await this.#folder.move(`${page.path}.${extension}`, `${path}.${extension}`)
      named.push({ ...page, path })
    }
    return named
  }

  /** Rewrites the links in the files of a page, and returns its manifest entry. */
  async #rewriteLinks(page: StoredPage, places: PagePaths): Promise<ManifestPage> {
    const files: { format: string; file: string; sha256: string }[] = []
    for (const { format, extension } of page.pieces) {
      const file = `${page.path}.${extension}`
      const bytes = await this.#folder.read(file)
      const content = (page.hasLinks && (await rewritten(format, bytes, page, places))) || bytes
      if (!bytes.equals(content)) await this.#folder.write(file, content)
      files.push({ format, file, sha256: createHash('sha256').update(content).digest('hex') })
    }
    const [main, ...others] = files
    const { url, title, status, depth, terms } = page
    return {
      url,
      file: main?.file ?? null,
      title,
      status,
      depth,
      sha256: main?.sha256 ?? null,
      ...(terms && { terms }),
      ...(others.length > 0 && { files: others }),
    }
  }
}

/** Returns a file with rewritten links; undefined for formats without links. */
async function rewritten(format: string, bytes: Buffer, { url, path }: StoredPage, places: PagePaths) {
  if (format === 'markdown') return Buffer.from(withLocalLinks(bytes.toString(), url, path, places))
  if (format === 'html') return Buffer.from(await withLocalAnchors(bytes.toString(), url, path, places))
  return undefined
}

const filesOf = ({ file, files = [] }: ManifestPage): string[] => [
  ...(file === null ? [] : [file]),
  ...files.map((other) => other.file),
]

async function checkEmpty(root: string): Promise<void> {
  const entries = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    const reason = error.code === 'ENOTDIR' ? 'it is not a folder' : error.code
    throw new BaxError('invalid_request', `cannot write into ${root}: ${reason}`, { cause: error })
  })
  if (entries.length === 0) return
  throw new BaxError('not_empty', `${root} is not empty and contains no crawl`, {
    hint: 'choose another folder with --output',
  })
}
