/** `manifest.json` of a mirror: every page with its file, and every URL without a page. */
import { mappingOf } from '../../../core/text/is-mapping.ts'
import { isMapping } from '../../../core/text/is-mapping.ts'
import { systemReason, systemCode } from '../../../core/errors/system-errors.ts'
import { join } from 'node:path'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import { readRegularFile } from '../../../core/state/outside-files.ts'
import type { CrawlAccounts, CrawlStatus } from '../../../core/shapes/crawl.ts'
import type { ScrapeMetadata } from '../../../core/shapes/scrape.ts'
import { changesName } from './changes-file.ts'
import type { WritingCrawl } from './journal.ts'

export const manifestName = 'manifest.json'
/** Identifies the file, and its version. */
const format = 'bax-crawl/1'

/** A page of the manifest; paths are relative to the folder. */
export interface ManifestPage {
  readonly url: string
  /** Null if the page has none of the requested formats. */
  readonly file: string | null
  readonly title: string | null
  readonly status: number | null
  readonly depth: number
  readonly sha256: string | null
  /** Terms of use of the page and its site. */
  readonly terms?: Pick<ScrapeMetadata, 'content_signals' | 'licenses'>
  readonly files?: readonly { readonly format: string; readonly file: string; readonly sha256: string }[]
}

/** Outcome of a crawl. Complete crawls omit ID and times, so that two crawls of the same site are identical. */
export interface Outcome extends CrawlAccounts, Partial<Pick<WritingCrawl, 'id' | 'resume'>> {
  readonly url: string
  readonly status: CrawlStatus
}

/** Yields the text in chunks, with one line for each page, error and skipped URL. */
export function* manifestText(outcome: Outcome, pages: readonly ManifestPage[]): Generator<string> {
  const { url, status, success, id, resume, errors, skipped } = outcome
  const head = {
    format,
    url,
    status,
    success,
    ...(id && { id }),
    ...(resume && { resume }),
    total: pages.length + errors.length,
    completed: pages.length,
  }
  yield `{\n${Object.entries(head)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`)
    .join('')}`
  yield* list('pages', pages)
  yield ',\n'
  yield* list('errors', errors)
  yield ',\n'
  yield* list('skipped', skipped)
  yield `,\n  "skipped_total": ${outcome.skipped_total},\n`
  yield* list('robots_blocked', outcome.robots_blocked)
  if (outcome.changes) yield `,\n  "changes": ${JSON.stringify(outcome.changes)}`
  yield '\n}\n'
}

function* list(name: string, items: readonly unknown[]): Generator<string> {
  yield `  ${JSON.stringify(name)}: [`
  for (const [at, item] of items.entries()) yield `${at > 0 ? ',' : ''}\n    ${JSON.stringify(item)}`
  yield items.length > 0 ? '\n  ]' : ']'
}

export interface EarlierCrawl {
  readonly url: string
  readonly files: readonly string[]
}

/** Reads the manifest of a folder; undefined if there is none. */
export function readManifest(folder: string): EarlierCrawl | undefined {
  const text = readText(join(folder, manifestName))
  const found = text === undefined ? undefined : parsed(text)
  const { url, pages, changes } = mappingOf(found)
  if (found?.['format'] !== format || typeof url !== 'string' || !Array.isArray(pages)) return undefined
  const files = pages.flatMap(namedFiles)
  return { url, files: changes === undefined ? files : [...files, changesName] }
}

/** Reads a file of an output folder; undefined if it is missing. @throws BaxError `invalid_request` */
export function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, limits.crawl.mirrorFileBytes).toString()
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new BaxError('invalid_request', `cannot read ${path}: ${systemReason(error)}`, { cause: error })
  }
}

/** Returns the file names of a page; the manifest is untrusted. */
function namedFiles(page: unknown): string[] {
  const { file, files } = mappingOf(page)
  const others = Array.isArray(files) ? files.map((other) => mappingOf(other)['file']) : []
  return [file, ...others].filter((name) => typeof name === 'string')
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMapping(value) ? value : undefined
  } catch {
    return undefined
  }
}
