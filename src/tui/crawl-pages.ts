/** The state of a crawl's pages, built from its events and shown as a tree of folders. */
import type { FrameOf } from '../client/calls.ts'
import type { CrawlEventData } from '../core/shapes/crawl.ts'

export interface CrawlPage {
  readonly url: string
  readonly depth: number
  readonly state: 'waiting' | 'done' | 'error' | 'skipped'
  /** Index among the scraped pages. */
  readonly index?: number
  readonly title?: string
  /** Why the page was not scraped. */
  readonly problem?: string
}

type Counters = CrawlEventData['crawl.progress']

/** Counters of the last event that has some. */
interface CrawlProgress extends Pick<Counters, 'total' | 'completed' | 'errors' | keyof typeof idle> {
  readonly status: string | null
}

/** Counters of work that is not running. */
const idle = { queued: 0, pages_per_second: 0, current: [] as string[] }

export interface CrawlPages {
  readonly pages: ReadonlyMap<string, CrawlPage>
  readonly progress: CrawlProgress
}

export const noPages: CrawlPages = {
  pages: new Map(),
  progress: { ...idle, total: 0, completed: 0, errors: 0, status: null },
}

/** Maximum number of URLs that are kept; a crawl may find many more. */
const maxPages = 5000

/** Returns the state after further events. */
export function withEvents({ pages, progress }: CrawlPages, events: readonly FrameOf<'crawlEvents'>[]): CrawlPages {
  const next = new Map(pages)
  let now = progress
  const put = (page: CrawlPage) => {
    if (next.has(page.url) || next.size < maxPages) next.set(page.url, { ...next.get(page.url), ...page })
  }
  for (const { type, data } of events) {
    if (type === 'crawl.found') {
      for (const url of data.urls) put({ url, depth: data.depth, state: 'waiting' })
    } else if (type === 'crawl.page') {
      const { url, depth, index, page } = data
      put({ url, depth, state: 'done', index, title: page.metadata.title ?? '' })
    } else if (type === 'crawl.error') {
      put({ url: data.url, depth: data.depth, state: 'error', problem: data.error })
    } else if (type === 'crawl.skipped') {
      for (const { url, reason } of data.skipped)
        if (next.has(url)) put({ url, depth: next.get(url)!.depth, state: 'skipped', problem: reason })
    } else if (type === 'crawl.progress') now = { ...data, status: 'scraping' }
    else if (type === 'crawl.finished') now = { ...idle, ...data }
  }
  return { pages: next, progress: now }
}

/** A line of the tree: a page, or a folder that is not a page itself. */
export interface TreeRow {
  readonly key: string
  readonly level: number
  readonly label: string
  readonly page?: CrawlPage
}

/** Arranges pages below the folders of their URLs. */
export function treeOf(pages: Iterable<CrawlPage>): TreeRow[] {
  const rows: TreeRow[] = []
  const open: string[] = []
  const sorted = [...pages].map((page) => ({ page, parts: partsOf(page.url) }))
  sorted.sort((a, b) => compare(a.parts, b.parts))
  for (const { page, parts } of sorted) {
    let shared = 0
    while (shared < open.length && shared < parts.length - 1 && open[shared] === parts[shared]) shared += 1
    open.length = shared
    for (let level = shared; level < parts.length - 1; level += 1) {
      open.push(parts[level]!)
      // A folder that is also a page already has a row.
      if (rows.at(-1)?.key !== open.join('/')) rows.push({ key: `${open.join('/')}/`, level, label: parts[level]! })
    }
    rows.push({ key: parts.join('/'), level: parts.length - 1, label: parts.at(-1)!, page })
    open.push(parts.at(-1)!)
  }
  return rows
}

function partsOf(url: string): string[] {
  const { host, pathname, search } = new URL(url)
  const parts = pathname.split('/').filter(Boolean)
  if (search) parts[Math.max(0, parts.length - 1)] = `${parts.at(-1) ?? ''}${search}`
  return [host, ...parts]
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1
  return a.length - b.length
}

/** Returns the position of a page in the list of `GET /v1/crawl/{id}`, which is sorted by depth, then by index. */
export const positionOf = (page: CrawlPage, pages: Iterable<CrawlPage>): number =>
  [...pages].filter(
    ({ state, depth, index }) =>
      state === 'done' && (depth < page.depth || (depth === page.depth && index! < page.index!)),
  ).length
