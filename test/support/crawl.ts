/** Sites for crawling, and checks of every crawl response. */
import { expect } from 'vitest'
import type { CrawlAnswer } from '../../src/core/shapes/crawl.ts'
import type { Client } from './client.ts'

/** Returns a page with a headline, unique text and links. */
export const linkPage = (name: string, links: readonly string[] = [], more = ''): string =>
  `<!doctype html><html lang="en"><head><title>${name}</title></head><body><main><h1>${name}</h1>
<p>This is what there is to read on the page that is called ${name}, and nothing of it stands on another page.</p>
<ul>${links.map((link) => `<li><a href="${link}">to ${link}</a></li>`).join('')}</ul>${more}</main></body></html>`

/** Runs a crawl to its end, and checks its counts. */
export async function crawl(client: Client, url: string, input: Record<string, unknown> = {}): Promise<CrawlAnswer> {
  const answer = (await client.crawl({ url, ...input } as never)) as CrawlAnswer
  expectConsistentCounts(answer)
  return answer
}

/** Checks that every URL is listed once, and that the counts match the lists. */
export function expectConsistentCounts(answer: CrawlAnswer): void {
  const { data, errors, skipped, robots_blocked: blocked } = answer
  expect(answer.completed).toBe(data.length)
  expect(answer.total).toBe(data.length + errors.length)
  expect(answer.skipped_total).toBe(skipped.length)
  expect(answer.discovered).toBe(data.length + errors.length + skipped.length + blocked.length)
  const listed = [...errors.map(({ url }) => url), ...skipped.map(({ url }) => url), ...blocked]
  const all = [...listed, ...data.map(({ metadata }) => metadata.sourceURL)]
  expect(all.toSorted()).toEqual([...new Set(all)].toSorted())
}

/** Returns the requested paths of the pages in `data`, in order. */
export const pathsOf = ({ data }: Pick<CrawlAnswer, 'data'>): string[] =>
  data.map(({ metadata }) => pathOf(metadata.sourceURL))

/** Returns the path, query and fragment of a URL. */
export function pathOf(url: string): string {
  const { pathname, search, hash } = new URL(url)
  return `${pathname}${search}${hash}`
}

/** Returns the reasons of skipped URLs, by path. */
export const skippedOf = ({ skipped }: Pick<CrawlAnswer, 'skipped'>): Record<string, string> =>
  Object.fromEntries(skipped.map(({ url, reason }) => [pathOf(url), reason]))

/** Returns the codes of failed URLs, by path. */
export const errorsOf = ({ errors }: Pick<CrawlAnswer, 'errors'>): Record<string, string> =>
  Object.fromEntries(errors.map(({ url, code }) => [pathOf(url), code]))
