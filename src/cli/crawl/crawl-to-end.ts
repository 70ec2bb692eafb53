/** A crawl from its beginning, or from where it was left, to what is printed and written of it. */
import { relative, resolve } from 'node:path'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlAccounts } from '../../core/shapes/crawl.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import { type Context, operationNamed } from '../context.ts'
import type { Home } from '../engine/locate-engine.ts'
import { note, print } from '../io.ts'
import { startSpinner } from '../output/progress.ts'
import { printAnswer } from './answer.ts'
import { CrawlCalls } from './crawl-calls.ts'
import { counted } from './mirror/contents.ts'
import { Mirror } from './mirror/mirror.ts'
import { report } from './report.ts'
import { type CrawlEnd, runCrawl } from './run.ts'
import { Reader, ReaderGone } from './reader.ts'
import { linesSink, type Sink, textSink } from './screen.ts'
import { noteOutput } from './mirror/output-note.ts'
import { goOn, startCrawl } from './start.ts'

type Flags = Readonly<Record<string, unknown>>

export interface Wanted {
  readonly context: Context
  readonly home: Home
  readonly flags: Flags
  /** Body of the request. */
  readonly wishes: Readonly<Record<string, unknown>>
  /** The crawl to go on with, instead of a new one. */
  readonly begun?: CrawlCalls
}

/** Returns the exit code. @throws BaxError for what could not be begun, and when the engine is lost */
export async function crawlToEnd(wanted: Wanted): Promise<number> {
  const { context, home, flags, wishes } = wanted
  const { io, manifest } = context
  const mirror = await openMirror(wanted)
  const { calls, owned } = await begin(wanted)
  const followed = {
    transport: home.transport,
    http: operationNamed(manifest, 'crawlEvents').http,
    id: calls.id,
    patienceMs: home.kind === 'server' ? limits.stream.comeBackMs : 0,
  }
  const reader = new Reader(io)
  const sinks = sinksOf(wanted, reader)
  if (mirror) sinks.push({ page: (page) => mirror.take(page) })
  const resume = resumeWords(context, flags, calls.id)
  const onStart = async (url: string) => {
    mirror?.checkStart(url)
    await mirror?.begin({ url, id: calls.id, resume })
  }
  if (mirror && home.kind !== 'server') await noteOutput(context.settings.stateDir, calls.id, mirror.root)
  try {
    const end = await runCrawl({ io, calls, followed, sinks, owned, onStart })
    const accounts = await calls.accounts()
    if (mirror) await finishMirror(wanted, mirror, end, accounts, { id: calls.id, resume })
    if (context.settings.json && end.stopped !== 'unread') await printAnswer(reader, calls)
    const limit = Number(wishes['limit'] ?? limits.crawl.pages)
    const aloud = flags['ndjson'] !== true && !context.settings.json
    const summary = aloud && (mirror !== undefined || io.stderr.isTTY === true)
    return await report(io, { end, accounts, limit, resume, summary, failOnError: flags['failOnError'] === true })
  } catch (error) {
    if (error instanceof ReaderGone) return exits.done
    throw lost(error, resume)
  } finally {
    await mirror?.close()
  }
}

async function begin({ context, home, wishes, begun }: Wanted): Promise<{ calls: CrawlCalls; owned: boolean }> {
  if (begun) return { calls: begun, owned: await goOn(begun, context.io.signal) }
  const { id } = await startCrawl(context, home, wishes)
  return { calls: new CrawlCalls(home.transport, context.manifest, id), owned: true }
}

async function openMirror({ context, flags, wishes, begun }: Wanted): Promise<Mirror | undefined> {
  const output = flags['output'] as string | undefined
  if (output === undefined) return undefined
  if (output === '-' || output === '') {
    throw new BaxError('invalid_request', '--output is the folder that the pages go into', {
      hint: 'without it they go to standard output',
    })
  }
  const { io } = context
  const mirror = await Mirror.open(resolve(io.cwd, output))
  if (wishes['url'] !== undefined) mirror.checkStart(normaliseUrl(String(wishes['url'])))
  if (mirror.unfinished && mirror.unfinished !== begun?.id)
    note(io, `${output} has a crawl that was cut off, and is begun anew; to go on with it: ${resumeWords(context, flags, mirror.unfinished)}`) // prettier-ignore
  return mirror
}

function sinksOf({ context, flags, wishes }: Wanted, reader: Reader): Sink[] {
  if (flags['ndjson'] === true) return [linesSink(reader)]
  if (context.settings.json || flags['output'] !== undefined) return []
  return [textSink(context, reader, wishes)]
}

async function finishMirror(
  { context, flags }: Wanted,
  mirror: Mirror,
  { finished, url, stopped }: CrawlEnd,
  { errors, skipped, skipped_total, robots_blocked }: CrawlAccounts,
  known: { readonly id: string; readonly resume: string },
): Promise<void> {
  const { io, settings } = context
  const success = finished?.success ?? mirror.size > 0
  // A site that cannot be reached is no reason to remove what an earlier crawl has of it.
  if (mirror.size === 0 && !success) return stopped ? undefined : mirror.discard()
  const status = finished?.status ?? (stopped ? 'cancelled' : 'scraping')
  const spinner = await startSpinner(io, 'leading links to files')
  try {
    const outcome = { url, status, success, ...(status !== 'completed' && known), errors, skipped, skippedTotal: skipped_total, robotsBlocked: robots_blocked } // prettier-ignore
    const contents = await mirror.finish(outcome, (done) => spinner.say(`leading links to files, ${done} of ${counted(mirror.size, 'page')}`)) // prettier-ignore
    if (!settings.json && flags['ndjson'] !== true) print(io, relative(io.cwd, contents))
  } finally {
    spinner.stop()
  }
}

/** The command that goes on with a crawl, as it would be typed. */
function resumeWords({ settings }: Context, flags: Flags, id: string): string {
  const kept = ['server', 'stateDir', 'output'].flatMap((name) => {
    const value = flags[name]
    return value === undefined ? [] : [`--${name === 'stateDir' ? 'state-dir' : name}`, quoted(String(value))]
  })
  return ['bax crawl --resume', id, ...kept, ...(flags['ndjson'] === true ? ['--ndjson'] : []), ...(settings.json ? ['--json'] : [])].join(' ') // prettier-ignore
}

const quoted = (text: string): string => (/^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

function lost(error: unknown, resume: string): unknown {
  if (!(error instanceof BaxError) || error.code !== 'engine_unreachable') return error
  return new BaxError('engine_unreachable', error.message, { hint: `go on with: ${resume}`, cause: error })
}
