/** Maps of sites: crawls that read pages only for their links. */
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlInput, MapAnswer, MapInput } from '../../../core/shapes/crawl.ts'
import { accountsOf, outcomeOf, pagesOf } from '../responses.ts'
import { readJournal } from '../store/journal.ts'
import type { CrawlRecord } from '../store/record.ts'
import type { CrawlLogs } from '../store/log.ts'

/** Returns the crawl input of a map. A search crawls up to the maximum, because only matching URLs count. */
export function crawlForMap({ search, ...given }: MapInput): CrawlInput {
  const { session_id: _, ...input } = given
  return {
    ...input,
    limit: search === undefined ? input.limit : limits.crawl.mostMapped,
    allow_external_links: false,
    formats: [],
    wait_for: 0,
    only_main_content: false,
    site_memory: false,
    remove_base64_images: true,
    render: 'auto',
    prefer_markdown: 'never',
    block_ads: true,
    remove_overlays: false,
    timeout: limits.scrape.timeoutMs,
    dry_run: true,
    async: false,
  }
}

/** Builds the response from the crawl, which has ended. */
export async function mapOf({ search, limit }: MapInput, record: CrawlRecord, logs: CrawlLogs): Promise<MapAnswer> {
  const { success, warning, error, code } = outcomeOf(record, { url: '', isRunning: false })
  const listed = new Set<string>()
  const add = (urls: readonly string[]) => {
    for (const url of urls) if (listed.size < limit && matches(url, search)) listed.add(url)
  }
  for (let skip: number | undefined = 0; skip !== undefined && listed.size < limit;) {
    const { data, next } = await pagesOf(record, logs, { skip, limit: limits.crawl.mostListedPages })
    add(data.map(({ metadata }) => metadata.url ?? metadata.sourceURL))
    skip = next
  }
  const isTimedOut = success && error !== undefined
  if (isTimedOut) {
    // URLs that were found but not visited are part of the map too.
    const { skipped } = await accountsOf(record, logs)
    add(skipped.filter(({ reason }) => reason === 'out_of_time').map(({ url }) => url))
  }
  const links = [...listed]
  const { errors } = record.counts()
  const described = await describedIn(record, logs, listed)
  const warnings = [
    warning,
    isTimedOut && `not all pages were read: ${error}`,
    success && errors > 0 && `URLs that could not be loaded are not listed: ${errors}`,
  ]
    .filter(Boolean)
    .join('; ')
  return {
    success,
    links,
    ...(described.length > 0 && { described }),
    total: links.length,
    duration_ms: record.activeMs(),
    ...(warnings && { warning: warnings }),
    ...(!success && error && { error, code: code! }),
  }
}

/** Returns what llms.txt says about the listed URLs. */
async function describedIn({ bytes }: CrawlRecord, { journal }: CrawlLogs, links: ReadonlySet<string>) {
  for await (const { line } of readJournal(journal, 0, bytes))
    if (line.own?.llms) return line.own.llms.filter(({ url }) => links.has(url))
  return []
}

/** Returns whether a URL, encoded or decoded, contains the text. */
function matches(url: string, search: string | undefined): boolean {
  return search === undefined || `${url}\n${decoded(url)}`.toLowerCase().includes(search.toLowerCase())
}

function decoded(url: string): string {
  try {
    return decodeURI(url)
  } catch {
    return url
  }
}
