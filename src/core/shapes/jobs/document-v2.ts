/** Converts pages to the format of Firecrawl's second API. */
import type { ScrapeData } from '../scrape.ts'
import type { DocumentV2 } from '../v2.ts'

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
