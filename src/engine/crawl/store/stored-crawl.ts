/** Reads the state of a crawl from its journal. */
import { type PlacedLine, readJournal } from './journal.ts'
import type { CrawlLog } from './log.ts'
import type { CrawlRecord } from './record.ts'

/** Applies the complete commits of a journal, after those that the record has. */
export async function applyCommits(record: CrawlRecord, journal: CrawlLog, to = Infinity): Promise<CrawlRecord> {
  let group: PlacedLine[] = []
  for await (const placed of readJournal(journal, record.bytes, to, () => (record.isDamaged = true))) {
    group.push(placed)
    if (!placed.line.end) continue
    for (const whole of group) record.apply(whole)
    group = []
  }
  return record
}
