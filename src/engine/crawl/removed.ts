/** Finds the pages of an earlier crawl that are gone. */
import { chunks } from './queue/discovery.ts'
import type { RunFacts } from './run-facts.ts'
import { type JournalEntry, warning } from './store/journal.ts'

/** Returns the journal lines of pages that a crawl has not found, unless it may have missed some, and of damaged ones. */
export async function removedLines(
  { earlier, record }: Pick<RunFacts, 'earlier' | 'record'>,
  isKnown: (url: string) => boolean,
): Promise<JournalEntry[]> {
  if (!earlier || !record.success) return []
  const unseen = await earlier.missing(isKnown)
  const { damaged } = earlier
  const lines = damaged > 0 ? [warning(`${damaged} pages of the earlier crawl are damaged, and count as new or removed`)] : [] // prettier-ignore
  if (unseen.length === 0) return lines
  if (record.queued === 0) return [...lines, ...chunks(unseen).map((urls) => ({ type: 'crawl.removed', data: { urls } }) as const)] // prettier-ignore
  return [...lines, warning(`${unseen.length} pages of the earlier crawl were not compared: this one ended at its limit`)] // prettier-ignore
}
