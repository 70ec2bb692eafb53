/** Scrapes what was typed after `bax scrape`, however it was parsed. */
import { call } from '../../client/client.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { Manifest } from '../../operations/manifest.ts'
import { type Context, operationNamed } from '../context.ts'
import type { Home } from '../engine/locate-engine.ts'
import { startCount, startSpinner } from '../output/progress.ts'
import { flagValue, type Typed } from '../parse/values.ts'
import { addressesOf } from './addresses.ts'
import { inOrder } from './in-order.ts'
import { outletFor, type Scraped } from './outlet.ts'
import { withJsonWishes } from './wishes.ts'

/** Pages asked for at the same time; the engine has bounds of its own. */
const together = 6

/** What can be asked of a page, as flags. */
export const scrapeFields = (manifest: Manifest): Param[] =>
  operationNamed(manifest, 'scrape').params.filter(({ name }) => name !== 'url')

/** Scrapes all pages in `home`, which it closes; returns the exit code. */
export async function scrapePages(context: Context, typed: Typed, home: Home): Promise<number> {
  const { io, manifest } = context
  try {
    const fields = scrapeFields(manifest).map((param) => [param.name, flagValue(param, typed.flags, io.cwd)] as const)
    const wishes = withJsonWishes(Object.fromEntries(fields), typed.flags, io.cwd)
    const addresses = await addressesOf(io, typed)
    const outlet = outletFor(context, typed.flags, wishes, addresses.length)
    const { http } = operationNamed(manifest, 'scrape')
    const failOnStatus = typed.flags['failOnStatus'] === true
    return await scrapeAll({ context, home, http, wishes, failOnStatus }, addresses, outlet)
  } finally {
    await home.transport.close()
  }
}

interface Errand {
  readonly context: Context
  readonly home: Home
  readonly http: string
  readonly wishes: Record<string, unknown>
  readonly failOnStatus: boolean
}

/** Every page on its own: what goes wrong with one says nothing of the others. */
async function scrapeAll(
  errand: Errand,
  addresses: readonly string[],
  outlet: ReturnType<typeof outletFor>,
): Promise<number> {
  const { io } = errand.context
  const many = addresses.length > 1
  const progress = many
    ? await startCount(io, addresses.length, 'page')
    : { ...(await startSpinner(io, `scraping ${addresses[0]}`)), next: () => {} }
  const failures: BaxError[] = []
  try {
    for await (const scraped of inOrder(addresses, together, (address) => scrapeOne(errand, address))) {
      const failure = scraped.error ?? (errand.failOnStatus ? statusFailure(scraped) : undefined)
      if (failure) failures.push(failure)
      // Of a single page the failure itself is the outcome.
      if (!many && scraped.error) throw scraped.error
      progress.next(failure !== undefined)
      await progress.aside(() => outlet.take(scraped, failure))
    }
    progress.stop()
    await outlet.end()
  } finally {
    progress.stop()
  }
  return failures.length > 0 ? exits.failed : exits.done
}

async function scrapeOne({ context, home, http, wishes }: Errand, url: string): Promise<Scraped> {
  const { signal } = context.io
  try {
    const body = await call(home.transport, http, { ...wishes, url }, { signal, strict: true })
    const answer = body as ScrapeAnswer
    return answer.success ? { url, answer } : { url, error: BaxError.fromBody(body) }
  } catch (error) {
    if (signal.aborted || !(error instanceof BaxError)) throw error
    return { url, error }
  }
}

function statusFailure({ answer }: Scraped): BaxError | undefined {
  const { status_code: status = 0, error } = answer?.data?.metadata ?? {}
  return status >= 400
    ? new BaxError('navigation_failed', `the page answered ${status} ${error ?? ''}`.trim())
    : undefined
}
