/** A map of a site: a crawl that reads pages for their links only. */
import { limits } from '../../core/limits.ts'
import type { CrawlInput, MapAnswer, MapInput } from '../../core/shapes/crawl.ts'
import { outcomeOf, pagesOf } from './answer.ts'
import type { CrawlRecord } from './record.ts'
import type { CrawlFiles } from './shelf.ts'

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

export async function mapOf({ search, limit }: MapInput, record: CrawlRecord, files: CrawlFiles): Promise<MapAnswer> {
  const { success, warning, error, code } = outcomeOf(record, { url: '', isRunning: false })
  const links: string[] = []
  for (let skip: number | undefined = 0; skip !== undefined && links.length < limit;) {
    const { data, next } = await pagesOf(record, files, { skip, limit: limits.crawl.mostListedPages })
    links.push(...data.map(({ metadata }) => metadata.url ?? metadata.sourceURL).filter((url) => holds(url, search)))
    skip = next
  }
  links.length = Math.min(links.length, limit)
  return {
    success,
    links,
    total: links.length,
    duration_ms: record.activeMs(),
    ...(warning && { warning }),
    ...(error && { error, code: code! }),
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
