/** Runs one crawler over the site in a process of its own; tells what came of it as JSON on the standard output. */
import { writeFileSync } from 'node:fs'
import { type BaxMode, crawlWithBax } from './bax.ts'
import { type PeerFacts, peers } from './peers.ts'
import { Tally } from './tally.ts'

export interface CrawlOrder extends PeerFacts {
  readonly crawler: keyof typeof peers | BaxMode
  /** The file that the report is written to. */
  readonly report: string
}

const order = JSON.parse(process.argv[2]!) as CrawlOrder
const { crawler, ...facts } = order
const tally = new Tally(facts.plan)
if (crawler === 'browser' || crawler === 'auto') await crawlWithBax(crawler, facts, tally)
else await peers[crawler](facts, tally)
tally.end()
writeFileSync(order.report, JSON.stringify(tally.report()))
process.exit(0)
