/** An address of the queue while it is visited and settled. */
import type { ObtainedPage } from '../scrape/load-page.ts'
import type { Waiting } from './queue/frontier.ts'
import type { Visited } from './visit.ts'

export interface Task {
  readonly waiting: Waiting
  done?: Promise<void>
  /** What came of the visit; `planned` in a dry run, for a page that need not be read. */
  visited?: Visited | 'planned'
  fault?: unknown
  settling?: true
}

/** What a page holds while it waits for those before it, in characters. */
export function weightOf(visited: Visited | 'planned'): number {
  if (visited === 'planned') return 0
  if (!visited.ok) return treeWeight(visited.fetched?.page)
  const { markdown = '', html = '', rawHtml = '', screenshot = '' } = visited.answer.data ?? {}
  const trees = treeWeight(visited.page) + treeWeight(visited.fetched) + treeWeight(visited.audit)
  return markdown.length + html.length + rawHtml.length + screenshot.length + trees
}

/** A page as a tree takes several times the space of its text. */
const treeWeight = (page: ObtainedPage | undefined): number =>
  page?.reading ? page.reading.size : (page?.document.raw?.length ?? 0) * 4
