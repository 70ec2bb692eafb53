/** `bax scrape`: one page or many, to standard output or into files. */
import { call } from '../../client/client.ts'
import { BaxError, exits } from '../../core/errors.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { type Context, operationNamed } from '../context.ts'
import { addParam } from '../flags.ts'
import { type Home, openHome } from '../home.ts'
import { begin, type TerminalCommand } from '../invocation.ts'
import { startSpinner } from '../progress.ts'
import { readOperation } from '../run-operation.ts'
import { addressesOf } from '../scrape/addresses.ts'
import { inOrder } from '../scrape/in-order.ts'
import { outletFor, type Scraped } from '../scrape/outlet.ts'
import { withJsonWishes } from '../scrape/wishes.ts'

/** Pages asked for at the same time; the engine has bounds of its own. */
const together = 6

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'scrape')
    const params = operation.params.filter(({ name }) => name !== 'url')
    const { context, typed } = begin(invocation, (command) => {
      command.argument('[url...]', 'pages to scrape; - reads addresses from standard input, one a line')
      command.option('--file <path>', 'file of addresses, one a line; lines that begin with # are left out')
      for (const param of params) addParam(command, param)
      command.option('--prompt <text>', 'what the json format is to find, in words')
      command.option('--schema <json|@file>', 'JSON schema of what the json format is to find')
      command.option('-o, --output <file|folder>', 'write here; several pages or formats go into a folder')
      command.option('--ndjson', "print the service's answers, one a line")
      command.option('--fail-on-status', 'a page with an HTTP error status is a failure')
    })
    const { input } = readOperation(context, { ...operation, cli: 'scrape', params }, typed)
    const wishes = withJsonWishes(input, typed.flags, context.io.cwd)
    const addresses = await addressesOf(context.io, typed)
    const outlet = outletFor(context, typed.flags, wishes, addresses.length)
    const home = openHome(context, { when: 'ask' })
    try {
      return await scrapeAll({ context, home, http: operation.http, wishes, failOnStatus: typed.flags['failOnStatus'] === true }, addresses, outlet) // prettier-ignore
    } finally {
      await home.transport.close()
    }
  },
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
  // prettier-ignore
  const { io } = errand.context
  const many = addresses.length > 1
  const spinner = await startSpinner(io, many ? `0 of ${addresses.length} pages` : `scraping ${addresses[0]}`)
  const failures: BaxError[] = []
  let done = 0
  try {
    for await (const scraped of inOrder(addresses, together, (address) => scrapeOne(errand, address))) {
      spinner.say(`${++done} of ${addresses.length} pages`)
      // Pages and a spinner on one screen would write over each other.
      if (io.stdout.isTTY) spinner.stop()
      const failure = scraped.error ?? (errand.failOnStatus ? statusFailure(scraped) : undefined)
      if (failure) failures.push(failure)
      // Of a single page the failure itself is the outcome.
      if (!many && scraped.error) throw scraped.error
      await outlet.take(scraped, failure)
    }
    await outlet.end()
  } finally {
    spinner.stop()
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
