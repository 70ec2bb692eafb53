/** Finds the pages of an earlier crawl that are gone. */
import { differencesOf } from './comparable.ts'
import type { Findings } from './earlier.ts'
import { chunks } from './queue/discovery.ts'
import type { RunFacts } from './run-facts.ts'
import { type JournalEntry, warning } from './store/journal.ts'

/**
 * Returns the journal lines of pages that nothing links to any more, and warnings about pages that were not compared,
 * because this crawl has not read them or a page that linked to them.
 */
export async function removedLines(
  { earlier, record }: Pick<RunFacts, 'earlier' | 'record'>,
  findings: Findings,
): Promise<JournalEntry[]> {
  if (!earlier || !record.success) return []
  const { names, haveSameSources } = differencesOf(record.input, earlier.input)
  const isCut = record.queued > 0
  const hasAllLinks = findings.hasAllLinks && haveSameSources && !isCut
  const { removed, uncompared } = await earlier.compare({ ...findings, hasAllLinks })
  const { damaged } = earlier
  const isOther = names.length > 0 && `this one has another value of ${names.join(', ')}`
  const reason = (isCut && 'this one ended at its limit') || isOther || 'unreadable, or linked from unreadable pages'
  return [
    ...(damaged > 0 ? [warning(`${earlierPages(damaged)} damaged, and counted as new or removed`)] : []),
    ...chunks(removed).map((urls) => ({ type: 'crawl.removed', data: { urls } }) as const),
    ...(uncompared > 0 ? [warning(`${earlierPages(uncompared)} not compared: ${reason}`)] : []),
  ]
}

const earlierPages = (count: number): string =>
  count === 1 ? '1 page of the earlier crawl was' : `${count} pages of the earlier crawl were`
