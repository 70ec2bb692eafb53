/** Compares a page with its earlier version. */
import type { ChangeTracking } from '../../core/shapes/jobs/changes.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import { diffHunks, gitDiff, unifiedText } from './line-diff.ts'

export interface EarlierVersion {
  readonly page: Pick<ScrapeData, 'markdown' | 'metadata'> & Partial<ScrapeData>
  /** Time at which it was scraped. */
  readonly at: string
}

/** Returns the text to compare: of the first format that the page has. */
function textOf({ markdown, html, rawHtml, json, summary, links }: EarlierVersion['page']): string {
  const data = json ?? links
  return (
    markdown ?? html ?? rawHtml ?? (data === undefined ? undefined : JSON.stringify(data, null, 2)) ?? summary ?? ''
  )
}

const isError = ({ metadata }: EarlierVersion['page']): boolean => (metadata.status_code ?? 200) >= 400

/** Returns the change of a page, with this kind of diff; `earlier` is undefined for a new page. */
export function changeOf(
  page: ScrapeData,
  earlier: EarlierVersion | undefined,
  diff: 'text' | 'git' | 'none' = 'text',
): ChangeTracking {
  const visibility = 'visible' as const
  if (!earlier || (isError(earlier.page) && !isError(page))) {
    return { previousScrapeAt: earlier?.at ?? null, changeStatus: 'new', visibility }
  }
  const facts = { previousScrapeAt: earlier.at, visibility }
  if (isError(page) && !isError(earlier.page)) return { ...facts, changeStatus: 'removed' }
  const [before, after] = [textOf(earlier.page), textOf(page)]
  if (before === after) return { ...facts, changeStatus: 'same' }
  if (diff === 'none') return { ...facts, changeStatus: 'changed' }
  const hunks = diffHunks(before, after)
  return { ...facts, changeStatus: 'changed', diff: diff === 'git' ? gitDiff(hunks) : { text: unifiedText(hunks) } }
}
