/** Scrapes the pages of `bax scrape`. */
import { listedWords, textFlag } from '../../lines/typed.ts'
import { type Unchecked, uncheckedFields } from '../../client/calls.ts'
import { BaxError, exits, type FieldError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { type Context, operationNamed } from '../context.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { startCount, startSpinner } from '../output/progress.ts'
import { flagValue, type TypedArguments, fileText } from '../../lines/values.ts'
import { inOrder } from './in-order.ts'
import { pageWriterFor, type Scraped } from './page-writer.ts'
import { withIdentity } from './identity-flags.ts'
import { withFormatFlags } from './format-flags.ts'
import { type Io, readStdin } from '../io.ts'

/** Maximum number of concurrent requests; the engine has its own limits. */
const together = 6

/** Returns the fields of a scrape request that are flags. */
export const scrapeFields = (manifest: Manifest): Param[] =>
  operationNamed(manifest, 'scrape').params.filter(({ name }) => name !== 'url' && name !== 'session_id')

/** Scrapes all pages with an engine, and closes it. Returns the exit code. */
export async function scrapePages(context: Context, typed: TypedArguments, engine: LocatedEngine): Promise<number> {
  const { io, manifest } = context
  try {
    const fields = scrapeFields(manifest).map((param) => [param.name, flagValue(param, typed.flags, io.cwd)] as const)
    const given = withFormatFlags(uncheckedFields(Object.fromEntries(fields)), typed.flags, io.cwd)
    const session = textFlag(typed.flags, 'session')
    const own = withIdentity(given, typed.flags, io.cwd)
    const input = session === undefined ? own : { ...own, session_id: session }
    const urls = await urlsOf(io, typed)
    const writer = pageWriterFor(context, typed.flags, input, urls.length)
    const failOnStatus = typed.flags['failOnStatus'] === true
    const many = urls.length > 1
    const progress = many
      ? await startCount(io, urls.length, 'page')
      : { ...(await startSpinner(io, `scraping ${urls[0]}`)), next: () => {} }
    let failed = false
    try {
      for await (const scraped of inOrder(urls, together, (url) => scrapeOne(context, engine, { ...input, url }))) {
        const failure = scraped.error ?? (failOnStatus ? statusFailure(scraped) : undefined)
        failed ||= failure !== undefined
        // The failure of a single page is the outcome of the command, and so is a flag that no page can use.
        if (scraped.error && (!many || isOfFlags(scraped.error))) throw scraped.error
        progress.next(failure !== undefined)
        await progress.hideWhile(() => writer.take(scraped, failure))
      }
      progress.stop()
      await writer.end?.()
    } finally {
      progress.stop()
    }
    return failed ? exits.failed : exits.done
  } finally {
    await engine.transport.close()
  }
}

/** Scrapes a page with its own request, so that a failure affects one page only. */
async function scrapeOne({ io }: Context, { ask }: LocatedEngine, input: Unchecked): Promise<Scraped> {
  const { signal } = io
  const url = String(input['url'])
  try {
    const answer = await ask('scrape', input, { signal, strict: true })
    return answer.success ? { url, answer } : { url, error: BaxError.fromBody(answer) }
  } catch (error) {
    if (signal.aborted || !(error instanceof BaxError)) throw error
    return { url, error }
  }
}

/** Checks if an error is about another field than the URL. */
const isOfFlags = ({ code, details }: BaxError): boolean =>
  code === 'invalid_request' &&
  Array.isArray(details) &&
  details.some(({ path }: Partial<FieldError>) => path !== 'url')

function statusFailure({ answer }: Scraped): BaxError | undefined {
  const { status_code: status = 0, error } = answer?.data?.metadata ?? {}
  return status >= 400
    ? new BaxError('navigation_failed', `the page answered ${status} ${error ?? ''}`.trim())
    : undefined
}

/** Returns the URLs. @throws BaxError `invalid_request` if there are none */
async function urlsOf(io: Io, typed: TypedArguments): Promise<string[]> {
  const words = listedWords(typed.words, 0)
  const file = textFlag(typed.flags, 'file')
  const named: string[] = []
  for (const word of words) {
    if (word === '-') named.push(...linesOf(await readStdin(io)))
    else named.push(word)
  }
  if (file === '-') named.push(...linesOf(await readStdin(io)))
  else if (file !== undefined) named.push(...linesOf(fileText(`@${file}`, '--file', io.cwd)))
  if (named.length > 0) return named
  throw new BaxError('invalid_request', '<url> is missing', {
    hint: 'run "bax scrape <url…>", or pass a list of URLs with --file or on standard input (-)',
  })
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
