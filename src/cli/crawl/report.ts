/** Prints the outcome of a crawl. */
import { exits } from '../../core/errors/errors.ts'
import type { CrawlAccounts, CrawlError } from '../../core/shapes/crawl.ts'
import type { Settings } from '../../core/config/settings.ts'
import type { SiteChanges } from '../../core/shapes/jobs/changes.ts'
import { interruptedExit, printError } from '../output/errors.ts'
import { siteHint } from '../output/site-hint.ts'
import { type Io, note } from '../io.ts'
import { styleFor } from '../output/style.ts'
import { counted } from '../output/counted.ts'
import { failureOf } from './crawl-calls.ts'
import type { CrawlEnd } from './run.ts'

const maxErrors = 10

export interface Report {
  readonly end: CrawlEnd
  readonly accounts: CrawlAccounts
  readonly limit: number
  readonly resume: string
  /** Whether the output is for humans, who see failed pages nowhere else. */
  readonly isText: boolean
  /** Whether to print a summary even if pages were printed. */
  readonly summary: boolean
  /** Whether all changes are listed, because nothing else does; otherwise the first of each kind. */
  readonly allChanges: boolean
  /** File with the diffs of changed pages. */
  readonly diffs?: string | undefined
  readonly failOnError: boolean
  readonly settings: Pick<Settings, 'server' | 'verifyTls'>
}

/** Prints the outcome and returns the exit code. */
export async function report(io: Io, facts: Report): Promise<number> {
  const { end, accounts, resume, isText, summary, failOnError, settings } = facts
  const { finished, errors, stopped } = end
  if (stopped === 'unread') return exits.done
  if (finished && !finished.success && !stopped) {
    const failure = failureOf(finished)
    await printError(io, `${end.url}: ${failure.message} [${failure.code}]`, siteHint(failure, end.url, settings))
    return failure.exit
  }
  if (isText) await printErrors(io, errors)
  // An empty output must not look like that of a site without pages.
  if (finished && (summary || (isText && finished.completed === 0))) note(io, summaryLine(end, accounts))
  if (accounts.changes) await printChanges(io, accounts.changes, facts)
  if (summary && !stopped) await printLimits(io, facts)
  if (stopped) {
    const { yellow, cyan } = await styleFor(io, io.stderr)
    note(io, `${yellow('interrupted;')} resume with: ${cyan(resume)}`)
    return interruptedExit(io)
  }
  if (finished!.status === 'completed') return failOnError && errors.length > 0 ? exits.failed : exits.done
  const failure = failureOf(finished!)
  await printError(io, `${failure.message} [${failure.code}]`, `resume with "${resume}"`)
  return failure.exit
}

async function printErrors(io: Io, errors: readonly CrawlError[]): Promise<void> {
  const { red } = await styleFor(io, io.stderr)
  for (const { url, error, code } of errors.slice(0, maxErrors)) note(io, `${red('error:')} ${url}: ${error} [${code}]`)
  if (errors.length > maxErrors) note(io, `and ${counted(errors.length - maxErrors, 'more error')}`)
}

async function printChanges(io: Io, changes: SiteChanges, { allChanges, diffs }: Report): Promise<void> {
  const { unchanged, ...lists } = changes
  const most = allChanges ? Infinity : maxErrors
  const { green, yellow, red } = await styleFor(io, io.stderr)
  const counts = [...Object.entries(lists).map(([name, urls]) => `${urls.length} ${name}`), `${unchanged} unchanged`]
  note(io, `since the earlier crawl: ${counts.join(', ')}`)
  const signs = { new: green('+'), changed: yellow('~'), removed: red('-') } as const
  for (const [name, sign] of Object.entries(signs)) {
    const urls = lists[name as keyof typeof signs]
    for (const url of urls.slice(0, most)) note(io, `${sign} ${url}`)
    if (urls.length > most) note(io, `${sign} and ${urls.length - most} more`)
  }
  if (diffs !== undefined && changes.changed.length > 0) note(io, `diffs: ${diffs}`)
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

/** Prints which flag raises the limit that ended a crawl. */
async function printLimits(io: Io, { accounts, limit }: Report): Promise<void> {
  const { cyan } = await styleFor(io, io.stderr)
  const has = (reason: string) => accounts.skipped.some((skipped) => skipped.reason === reason)
  if (has('limit')) note(io, `${cyan('hint:')} raise --limit to crawl more than ${counted(limit, 'page')}`)
  else if (has('max_depth')) note(io, `${cyan('hint:')} raise --max-depth to crawl deeper pages`)
}
