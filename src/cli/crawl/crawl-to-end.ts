/** Runs a new or resumed crawl to its end, and prints and writes its results. */
import { textFlag } from '../../lines/typed.ts'
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Unchecked } from '../../client/calls.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { CrawlAccounts } from '../../core/shapes/crawl.ts'
import { saveCrawlOf } from '../../core/state/crawl-folders.ts'
import { crawlOutput } from '../../core/state/local-files.ts'
import { writeState } from '../../core/state/state-file.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import type { Context } from '../context.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { note, print, ReaderGone } from '../io.ts'
import { withSpinner } from '../output/progress.ts'
import { quoted } from '../output/quoted.ts'
import { type CrawlCalls, crawlCalls, printAnswer } from './crawl-calls.ts'
import { counted } from '../output/counted.ts'
import { Reader } from '../output/reader.ts'
import { changesName } from './mirror/changes-file.ts'
import { Mirror } from './mirror/mirror.ts'
import { report } from './report.ts'
import { startSince } from './since.ts'
import { type CrawlEnd, runCrawl } from './run.ts'
import { linesSink, type Sink, textSink, withoutChanges } from './sinks.ts'
import { SummaryRecorder } from './summary/recorder.ts'

type Flags = Readonly<Record<string, unknown>>

interface CrawlRequest {
  readonly context: Context
  readonly engine: LocatedEngine
  readonly flags: Flags
  /** Body of the request. */
  readonly input: Unchecked
  readonly resumed?: CrawlCalls
}

/** Returns the exit code. @throws BaxError if the crawl cannot start, or the engine is lost */
export async function crawlToEnd(request: CrawlRequest): Promise<number> {
  const { context, engine, flags, input, resumed } = request
  const { io } = context
  const mirror = await openMirror(request)
  const recorder = await SummaryRecorder.open(textFlag(flags, 'report'), io.cwd, input)
  const { calls, isCompared } = await startOrFind(request)
  const owned = !resumed || (await resumed.resume(io.signal))
  const { id } = calls
  const reader = new Reader(io)
  const resume = resumeCommand(context, flags, id)
  const sinks = sinksOf(request, reader, isCompared)
  const stopWatching = sinks.length > 0 ? reader.watch() : () => {}
  if (mirror) sinks.push(mirrorSink(mirror, { id, resume }, isCompared))
  if (recorder) sinks.push(recorder.sink)
  if (mirror && engine.kind !== 'server') await saveOutputFolder(context.settings.stateDir, id, mirror.root)
  try {
    const end = await runCrawl({ io, calls, sinks, owned, reader: reader.signal })
    const accounts = await calls.accounts()
    if (mirror) await finishMirror(request, mirror, end, accounts, { id, resume })
    await recorder?.write(calls, end, accounts, resume)
    const isComplete = end.finished?.status === 'completed' && end.finished.success
    // The next crawl is compared with all pages, not with a part of them.
    if (mirror && isComplete) await saveCrawlOf(context.settings.stateDir, mirror.root, id)
    if (context.settings.json && end.stopped !== 'unread') await printAnswer(reader, calls)
    const limit = Number(input['limit'] ?? limits.crawl.pages)
    const isText = flags['ndjson'] !== true && !context.settings.json
    const summary = isText && (mirror !== undefined || io.stderr.isTTY === true)
    const allChanges = !mirror && !context.settings.json && io.stderr.isTTY !== true
    const diffs = mirror && relative(io.cwd, join(mirror.root, changesName))
    return await report(io, {
      end,
      accounts,
      limit,
      resume,
      isText,
      summary,
      allChanges,
      diffs,
      failOnError: flags['failOnError'] === true,
      settings: context.settings,
    })
  } catch (error) {
    if (error instanceof ReaderGone) return exits.done
    throw withResumeHint(error, resume)
  } finally {
    stopWatching()
    await mirror?.close()
  }
}

/** Starts the crawl, or returns the existing one; `isCompared` if it is compared with an earlier crawl. */
async function startOrFind({ context, engine, flags, input, resumed }: CrawlRequest) {
  if (resumed) return { calls: resumed, isCompared: (await resumed.accounts()).changes !== undefined }
  const { id, isCompared } = await startSince(context, engine, input, flags['since'])
  return { calls: crawlCalls(engine, id), isCompared }
}

const mirrorSink = (mirror: Mirror, identity: { id: string; resume: string }, isCompared: boolean): Sink => ({
  start: (url) => mirror.begin({ url, ...identity }),
  page: (page) => (isCompared ? mirror.takeCompared(page) : mirror.take(page)),
})

/** Saves the output folder beside a crawl of this machine, for `bax crawl list`. */
async function saveOutputFolder(stateDir: string, id: string, folder: string): Promise<void> {
  const path = crawlOutput(stateDir, id)
  // A resumed crawl may have been deleted.
  if (existsSync(dirname(path))) await writeState(path, { folder })
}

async function openMirror({ context, flags, input, resumed }: CrawlRequest): Promise<Mirror | undefined> {
  const output = textFlag(flags, 'output')
  if (output === undefined) return undefined
  if (output === '-' || output === '') {
    throw new BaxError('invalid_request', '--output must be a folder', {
      hint: 'leave --output out to print the pages to standard output',
    })
  }
  const { io } = context
  const mirror = await Mirror.open(resolve(io.cwd, output))
  if (input['url'] !== undefined) mirror.checkStart(normaliseUrl(String(input['url'])))
  if (mirror.unfinished && mirror.unfinished !== resumed?.id)
    note(
      io,
      `replacing the unfinished crawl in ${output}; to resume it instead: ${resumeCommand(context, flags, mirror.unfinished)}`,
    )
  return mirror
}

function sinksOf({ context, flags, input }: CrawlRequest, reader: Reader, isCompared: boolean): Sink[] {
  if (flags['ndjson'] === true) return [linesSink(reader)]
  if (context.settings.json || flags['output'] !== undefined) return []
  const sink = textSink(context, reader, input)
  return [isCompared ? withoutChanges(sink) : sink]
}

async function finishMirror(
  { context, flags }: CrawlRequest,
  mirror: Mirror,
  { finished, url, stopped }: CrawlEnd,
  accounts: CrawlAccounts,
  identity: { readonly id: string; readonly resume: string },
): Promise<void> {
  const { io, settings } = context
  const success = finished?.success ?? mirror.size > 0
  // Keep the pages of an earlier crawl if the site cannot be reached.
  if (mirror.size === 0 && !success) return stopped ? undefined : mirror.discard()
  const status = finished?.status ?? (stopped ? 'cancelled' : 'scraping')
  await withSpinner(io, 'rewriting links', async (say) => {
    const outcome = { url, status, ...(status !== 'completed' && identity), ...accounts, success }
    const contents = await mirror.finish(outcome, (done) =>
      say(`rewriting links, ${done} of ${counted(mirror.size, 'page')}`),
    )
    if (!settings.json && flags['ndjson'] !== true) print(io, relative(io.cwd, contents))
  })
}

function resumeCommand({ settings }: Context, flags: Flags, id: string): string {
  const repeated = ['server', 'stateDir', 'output', 'report'].flatMap((name) => {
    const value = flags[name]
    return value === undefined ? [] : [`--${name === 'stateDir' ? 'state-dir' : name}`, quoted(String(value))]
  })
  return [
    'bax crawl --resume',
    id,
    ...repeated,
    ...(flags['ndjson'] === true ? ['--ndjson'] : []),
    ...(settings.json ? ['--json'] : []),
  ].join(' ')
}

function withResumeHint(error: unknown, resume: string): unknown {
  if (!(error instanceof BaxError) || error.code !== 'engine_unreachable') return error
  return new BaxError('engine_unreachable', error.message, { hint: `resume with "${resume}"`, cause: error })
}
