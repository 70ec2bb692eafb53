/** Runs one crawler over the site in a separate process; prints its report as JSON. */
import { writeFileSync } from 'node:fs'
import { type BaxMode, crawlWithBax } from './bax.ts'
import { type PeerFacts, peers } from './peers.ts'
import { Tally } from './tally.ts'

export interface CrawlOrder extends PeerFacts {
  readonly crawler: keyof typeof peers | BaxMode
  /** Path of the report. */
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
