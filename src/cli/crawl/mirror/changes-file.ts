/** `changes.diff` of a mirror: what has changed since an earlier crawl, as one unified diff. */
import type { SiteChanges } from '../../../core/shapes/jobs/changes.ts'
import type { Folder } from './folder.ts'

export const changesName = 'changes.diff'

/** A changed page, with the temporary file that contains its diff. */
export interface ChangedPage {
  readonly url: string
  readonly diff: string
}

/** Returns the name of the temporary file for the diff of a page. Names of pages never begin with a dot. */
export const diffName = (index: number): string => `.bax-crawl-diffs/${index}.diff`

/** Yields the text in chunks, in the order of the crawl; nothing if nothing has changed. */
export async function* changesText(changes: SiteChanges, changed: readonly ChangedPage[], folder: Folder) {
  // Programs that read diffs ignore other lines before the first file.
  for (const url of changes.new) yield `new page: ${url}\n`
  for (const url of changes.removed) yield `removed page: ${url}\n`
  for (const { url, diff } of changed) {
    yield `--- ${url}\n+++ ${url}\n`
    yield `${(await folder.read(diff)).toString()}\n`
  }
}
