/** How far a crawl is, in one line on a terminal. */
import type { CrawlEventData } from '../../core/shapes/crawl.ts'
import type { Io } from '../io.ts'
import { counted } from './mirror/contents.ts'

/** What the spinner itself and the margin take. */
const margin = 4

/**
 * `41 pages, 12.5/s, 210 waiting, 1 error, https://…`, as much of it as the terminal's line holds; `last` is the address
 * to show when none is being visited.
 */
export function progressLine(io: Io, progress: CrawlEventData['crawl.progress'], last: string): string {
  const { completed, pages_per_second: rate, queued, errors, current } = progress
  const facts = [
    counted(completed, 'page'),
    `${rate.toFixed(1)}/s`,
    `${queued} waiting`,
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    current[0] ?? last,
  ]
  return fitted(io, facts.join(', '))
}

/** A line that wraps is drawn anew below itself. */
export function fitted({ stderr }: Io, line: string): string {
  const width = (stderr.columns ?? 80) - margin
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}
