/** The official SDK of Firecrawl, with types for the used parts of its two clients. */
import type { ChangeTracking } from '../../src/core/shapes/jobs/changes.ts'
import { packageModule } from './packages.ts'

type Options = Record<string, unknown>

interface Document {
  readonly markdown?: string
  readonly links?: string[]
  readonly images?: string[]
  readonly json?: unknown
  readonly actions?: unknown
  readonly changeTracking?: ChangeTracking
  readonly warning?: string
  readonly metadata?: { readonly url?: string; readonly statusCode?: number }
}

interface Job {
  readonly id: string
  readonly status: string
  readonly data: Document[]
}

/** The v2 client, with the v1 client as `v1`. */
export interface Firecrawl {
  readonly v1: FirecrawlV1
  scrape(url: string, options?: Options): Promise<Document>
  crawl(url: string, options?: Options): Promise<Job>
  startCrawl(url: string, options?: Options): Promise<{ id: string; url: string }>
  getCrawlStatus(id: string): Promise<Job>
  getCrawlErrors(id: string): Promise<{ errors: unknown[]; robotsBlocked: string[] }>
  cancelCrawl(id: string): Promise<boolean>
  map(url: string, options?: Options): Promise<{ links: { url: string }[] }>
  search(query: string, options?: Options): Promise<{ web?: Document[]; warning?: string }>
  watcher(id: string, options: Options): Watcher
  startBatchScrape(urls: string[], options?: Options): Promise<{ id: string; url: string; invalidURLs?: string[] }>
  batchScrape(urls: string[], options?: Options): Promise<Job>
  getBatchScrapeStatus(id: string): Promise<Job>
  getBatchScrapeErrors(id: string): Promise<{ errors: unknown[] }>
  cancelBatchScrape(id: string): Promise<boolean>
  getActiveCrawls(): Promise<{ crawls: { id: string; url: string; options: Options }[] }>
  getQueueStatus(): Promise<Answer>
  getConcurrency(): Promise<Answer>
  getCreditUsage(): Promise<Answer>
  getTokenUsage(): Promise<Answer>
  getCreditUsageHistorical(byApiKey?: boolean): Promise<Answer>
  getTokenUsageHistorical(byApiKey?: boolean): Promise<Answer>
  extract(request: Options): Promise<Answer>
  parse(file: { data: Uint8Array; filename: string; contentType?: string }, options?: Options): Promise<Document>
}

interface Watcher {
  on(event: 'document', hear: (document: Document) => void): void
  on(event: 'done', hear: (job: Job) => void): void
  start(): Promise<void>
}

type Answer = Record<string, unknown>

export interface FirecrawlV1 {
  scrapeUrl(url: string, options: Options): Promise<Answer>
  crawlUrl(url: string, options: Options, pollInterval?: number): Promise<Answer & { data: Answer[] }>
  asyncCrawlUrl(url: string, options: Options): Promise<{ success: boolean; id: string }>
  checkCrawlStatus(id: string, all?: boolean): Promise<Answer & { data: Answer[] }>
  checkCrawlErrors(id: string): Promise<Answer>
  cancelCrawl(id: string): Promise<Answer>
  mapUrl(url: string, options: Options): Promise<{ links: string[] }>
  search(query: string, options: Options): Promise<{ data: Answer[] }>
  batchScrapeUrls(urls: string[], options: Options, pollInterval?: number): Promise<Answer & { data: Answer[] }>
  asyncBatchScrapeUrls(urls: string[], options: Options, ...more: unknown[]): Promise<Answer & { id: string }>
  checkBatchScrapeStatus(id: string, all?: boolean): Promise<Answer & { data: Answer[] }>
  checkBatchScrapeErrors(id: string): Promise<Answer>
  batchScrapeUrlsAndWatch(urls: string[], options: Options): Promise<EventTarget>
  extract(urls: string[], options: Options): Promise<Answer>
}

/** The last version of the SDK before its v2 client. */
export const loadOldFirecrawl = async () => {
  const load = packageModule<{ default: new (options: { apiKey: string; apiUrl: string }) => FirecrawlV1 }>
  return (await load('@mendable/firecrawl-js', '1.29.3', 'dist/index.js')).default
}

export const loadFirecrawl = () =>
  packageModule<{ Firecrawl: new (options: { apiKey: string; apiUrl: string }) => Firecrawl }>(
    'firecrawl',
    '4.42.0',
    'dist/index.js',
  )
