/** A queued URL while it is visited and finished. */
import type { LoadedPage } from '../scrape/loaded-page.ts'
import type { QueuedUrl } from './queue/frontier.ts'
import type { Visited } from './visit.ts'

export interface Task {
  readonly waiting: QueuedUrl
  done?: Promise<void>
  /** Result of the visit; `planned` for a page that a dry run does not need to read. */
  visited?: Visited | 'planned'
  error?: unknown
  isFinishing?: true
}

/** Returns the memory that a visited page uses while it waits for earlier ones, in characters. */
export function weightOf(visited: Visited | 'planned'): number {
  if (visited === 'planned') return 0
  if (!visited.ok) return treeWeight(visited.fetched?.page)
  const { markdown = '', html = '', rawHtml = '', screenshot = '' } = visited.answer.data ?? {}
  const trees = treeWeight(visited.page) + treeWeight(visited.fetched) + treeWeight(visited.audit)
  return markdown.length + html.length + rawHtml.length + screenshot.length + trees
}

/** A page as a tree takes several times the memory of its text. */
const treeWeight = (page: LoadedPage | undefined): number =>
  page?.reading ? page.reading.size : (page?.document.raw?.length ?? 0) * 4
