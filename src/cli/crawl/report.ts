/** What is said of a crawl when it has ended. */
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { CrawlAccounts, CrawlError } from '../../core/shapes/crawl.ts'
import { interruptedExit, tell } from '../output/errors.ts'
import { type Io, note } from '../io.ts'
import { styleFor } from '../output/style.ts'
import { counted } from './mirror/contents.ts'
import type { CrawlEnd } from './run.ts'

/** Errors that are told one by one. */
const toldErrors = 10

export interface Report {
  readonly end: CrawlEnd
  readonly accounts: CrawlAccounts
  readonly limit: number
  /** The command that goes on with the crawl. */
  readonly resume: string
  /** Whether a person is told what came of it; what goes into a pipe tells it itself. */
  readonly summary: boolean
  readonly failOnError: boolean
}

/** Tells what came of it and returns the exit code. */
export async function report(io: Io, facts: Report): Promise<number> {
  const { end, accounts, resume, summary, failOnError } = facts
  const { finished, errors, stopped } = end
  if (stopped === 'unread') return exits.done
  if (finished && !finished.success && !stopped) return tellStartFailure(io, end)
  if (summary) await tellErrors(io, errors)
  if (summary && finished) note(io, summaryLine(end, accounts))
  if (summary && !stopped) await tellLimits(io, facts)
  if (stopped) {
    const { yellow, cyan } = await styleFor(io, io.stderr)
    note(io, `${yellow('interrupted;')} go on with: ${cyan(resume)}`)
    return interruptedExit(io)
  }
  if (finished!.status === 'completed') return failOnError && errors.length > 0 ? exits.failed : exits.done
  const failure = failureOf(end)
  await tell(io, `${failure.message} [${failure.code}]`, `go on with: ${resume}`)
  return failure.exit
}

/** Of a site whose start page cannot be had, that is all there is to say. */
async function tellStartFailure(io: Io, end: CrawlEnd): Promise<number> {
  const failure = failureOf(end)
  await tell(io, `${end.url}: ${failure.message} [${failure.code}]`)
  return failure.exit
}

function failureOf({ finished }: CrawlEnd): BaxError {
  const { status, error, code } = finished!
  if (status === 'cancelled') return new BaxError('skipped', 'the crawl was cancelled')
  return BaxError.fromBody({ error: error ?? 'it could not be crawled', code }, 'navigation_failed')
}

async function tellErrors(io: Io, errors: readonly CrawlError[]): Promise<void> {
  const { red } = await styleFor(io, io.stderr)
  for (const { url, error, code } of errors.slice(0, toldErrors))
    note(io, `${red('error:')} ${url}: ${error} [${code}]`)
  if (errors.length > toldErrors) note(io, `and ${counted(errors.length - toldErrors, 'more error')}`)
}

function summaryLine({ finished }: CrawlEnd, { skipped_total, robots_blocked }: CrawlAccounts): string {
  const { completed, errors, duration_ms } = finished!
  const facts = [
    counted(completed, 'page'),
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(skipped_total > 0 ? [`${skipped_total} skipped`] : []),
    ...(robots_blocked.length > 0 ? [`${robots_blocked.length} blocked by robots.txt`] : []),
  ]
  return `${facts.join(', ')} in ${(duration_ms / 1000).toFixed(1)} s`
}

/** A crawl that ended at a border of its own says which flag moves it. */
async function tellLimits(io: Io, { accounts, limit }: Report): Promise<void> {
  const { cyan } = await styleFor(io, io.stderr)
  const has = (reason: string) => accounts.skipped.some((skipped) => skipped.reason === reason)
  if (has('limit')) note(io, `${cyan('hint:')} there are more than ${counted(limit, 'page')}: --limit takes more`)
  else if (has('max_depth')) note(io, `${cyan('hint:')} there are pages deeper down: --max-depth goes further`)
}
