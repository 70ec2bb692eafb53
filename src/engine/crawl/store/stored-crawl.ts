/** Reads the state of a crawl from its journal. */
import { type JournalLine, readJournal } from './journal.ts'
import type { CrawlLog } from './log.ts'
import type { CrawlRecord } from './record.ts'

export interface StoredCrawl {
  readonly record: CrawlRecord
  /** Size of the journal up to the last complete commit. */
  readonly bytes: number
  readonly seq: number
}

/** Applies the complete commits of a journal, after those that the record has; the record is changed. */
export async function applyCommits(
  { record, ...from }: StoredCrawl,
  journal: CrawlLog,
  to = Infinity,
): Promise<StoredCrawl> {
  let { bytes, seq } = from
  let group: JournalLine[] = []
  for await (const placed of readJournal(journal, bytes, to, () => (record.isDamaged = true))) {
    const { line } = placed
    group.push(line)
    if (!line.end) continue
    for (const whole of group) record.apply(whole)
    group = []
    bytes = placed.to
    seq = line.seq
  }
  return { record, bytes, seq }
}
