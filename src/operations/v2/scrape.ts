/** Scrapes in the format of Firecrawl's second API. */
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import { type DocumentV2, scrapeAnswerV2, scrapeInputV2 } from '../../core/shapes/v2.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import { scrape } from '../scrape.ts'

export function documentOf({ links, images, screenshot, actions, metadata, ...same }: ScrapeData): DocumentV2 {
  return {
    ...same,
    ...(links && { links: unique(links.map(({ href }) => href)) }),
    ...(images && { images: unique(images.map(({ src }) => src)) }),
    ...(screenshot !== undefined && { screenshot: imageUrl(screenshot) }),
    ...(actions && {
      actions: {
        screenshots: actions.screenshots.map(imageUrl),
        scrapes: actions.scrapes ?? [],
        javascriptReturns: actions.results.map(({ value }) => ({ type: typeName(value), value })),
      },
    }),
    metadata: inCamelCase(metadata) as DocumentV2['metadata'],
  }
}

const unique = (urls: readonly string[]): string[] => [...new Set(urls)]

const imageUrl = (png: string): string => `data:image/png;base64,${png}`

const typeName = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const inCamelCase = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )

export const scrapeV2 = defineOperation({
  summary: 'Scrape a page (Firecrawl v2 format)',
  description:
    'Like /v1/scrape, but links and images are URLs, screenshots are data: URLs, and metadata is in camelCase.',
  http: 'POST /v2/scrape',
  scope: scrape.scope,
  input: scrapeInputV2,
  output: scrapeAnswerV2,
  errors: scrape.errors,
  heavy: true,
  run: async (engine, input, call) => {
    const { data, ...answer } = await scrape.run(engine, input, call)
    return data ? { ...answer, data: documentOf(data) } : answer
  },
  // Firecrawl clients pass on only `data`.
  withWarning: ({ data, ...answer }, warning) => ({ ...answer, warning, ...(data && { data: { ...data, warning } }) }),
})
