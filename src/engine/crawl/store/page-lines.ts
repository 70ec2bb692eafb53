/** Where pages of `data` came from, by their lines in the journal. */
import type { Waiting } from '../queue/frontier.ts'
import { type JournalEntry, readJournal } from './journal.ts'
import type { CrawlRecord } from './record.ts'

/** The addresses of pages by their places in `data`; `bytes` is the end of the journal. */
export async function pagesAt(
  journal: string,
  bytes: number,
  indexes: ReadonlySet<number>,
): Promise<Map<number, Waiting>> {
  const found = new Map<number, Waiting>()
  if (indexes.size === 0) return found
  for await (const { line } of readJournal(journal, 0, bytes)) {
    if (line.type !== 'crawl.page' || !indexes.has(line.data.index)) continue
    found.set(line.data.index, { url: line.data.url, depth: line.data.depth })
  }
  return found
}

/** What the stream of a crawl says whose journal was damaged. */
export function damageLines({ isDamaged, completed }: CrawlRecord): JournalEntry[] {
  if (!isDamaged) return []
  const message = `the journal was damaged: what came after the first ${completed} pages is crawled again`
  return [{ type: 'crawl.warning', data: { message } }]
}
