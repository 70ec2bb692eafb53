/** A map of a site: a crawl that reads pages for their links only. */
import { limits } from '../../../core/limits/limits.ts'
import type { CrawlInput, MapAnswer, MapInput } from '../../../core/shapes/crawl.ts'
import { accountsOf, outcomeOf, pagesOf } from '../answer.ts'
import type { CrawlRecord } from '../store/record.ts'
import type { CrawlFiles } from '../store/crawl-store.ts'

/** The crawl that finds what a map is to show; one that is searched is found whole. */
export const crawlForMap = ({ search, ...input }: MapInput): CrawlInput => ({
  ...input,
  limit: search === undefined ? input.limit : limits.crawl.mostMapped,
  allow_external_links: false,
  formats: [],
  wait_for: 0,
  only_main_content: false,
  remove_base64_images: true,
  render: 'auto',
  block_ads: true,
  remove_overlays: false,
  timeout: limits.scrape.timeoutMs,
  dry_run: true,
  async: false,
})

/** `bytes` is the end of the journal. */
export async function mapOf(
  { search, limit }: MapInput,
  record: CrawlRecord,
  { files, bytes }: { files: CrawlFiles; bytes: number },
): Promise<MapAnswer> {
  const { success, warning, error, code } = outcomeOf(record, { url: '', isRunning: false })
  const links: string[] = []
  const add = (urls: readonly string[]) => links.push(...urls.filter((url) => holds(url, search)))
  for (let skip: number | undefined = 0; skip !== undefined && links.length < limit;) {
    const { data, next } = await pagesOf(record, files, { skip, limit: limits.crawl.mostListedPages }, bytes)
    add(data.map(({ metadata }) => metadata.url ?? metadata.sourceURL))
    skip = next
  }
  const isLate = success && error !== undefined
  if (isLate) {
    // What was found and not read any more is known all the same.
    const { skipped } = await accountsOf(record, files, bytes)
    add(skipped.filter(({ reason }) => reason === 'out_of_time').map(({ url }) => url))
  }
  links.length = Math.min(links.length, limit)
  const warnings = [warning, isLate ? `not all pages were read: ${error}` : undefined].filter(Boolean).join('; ')
  return {
    success,
    links,
    total: links.length,
    duration_ms: record.activeMs(),
    ...(warnings && { warning: warnings }),
    ...(!success && error && { error, code: code! }),
  }
}

/** Whether an address, as people read it, has the text in it. */
function holds(url: string, search: string | undefined): boolean {
  return search === undefined || `${url}\n${readable(url)}`.toLowerCase().includes(search.toLowerCase())
}

function readable(url: string): string {
  try {
    return decodeURI(url)
  } catch {
    return url
  }
}
