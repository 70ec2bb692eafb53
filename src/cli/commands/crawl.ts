/** `bax crawl`: a site onto standard output or into a folder, and what there is to do with crawls that were begun. */
import { Option } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import { CrawlCalls } from '../crawl/crawl-calls.ts'
import { crawlToEnd } from '../crawl/crawl-to-end.ts'
import { startCrawl } from '../crawl/start.ts'
import { type Context, operationNamed } from '../context.ts'
import { addParam } from '../parse/flags.ts'
import { openHome } from '../engine/locate-engine.ts'
import { begin, type Invocation, type TerminalCommand } from '../parse/invocation.ts'
import { print } from '../io.ts'
import { showAnswer } from '../output/output.ts'
import { readOperation } from '../run-operation.ts'
import { withJsonWishes } from '../scrape/wishes.ts'
import { attributeOf, kebab, type Typed } from '../parse/values.ts'

type Wishes = Record<string, unknown>

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = readTyped(invocation)
    const { flags } = typed
    const known = (['resume', 'status', 'cancel'] as const).filter((verb) => flags[verb] !== undefined)
    if (known.length > 0) checkKnown(invocation, typed, known)
    const wishes = known.length > 0 ? {} : readWishes(context, typed)
    if (flags['async'] === true) return startOnly(context, wishes)
    const home = openHome(context, { when: 'ask', sameEngine: true })
    try {
      const calls = (id: unknown) => new CrawlCalls(home.transport, context.manifest, String(id))
      if (flags['status'] !== undefined) return await showStatus(context, calls(flags['status']))
      if (flags['cancel'] !== undefined) return await cancel(context, calls(flags['cancel']))
      const begun = flags['resume'] === undefined ? undefined : calls(flags['resume'])
      return await crawlToEnd({ context, home, flags, wishes, ...(begun && { begun }) })
    } finally {
      await home.transport.close()
    }
  },
}

function readTyped(invocation: Invocation): { context: Context; typed: Typed } {
  return begin(invocation, (command) => {
    command.argument('[url]', 'start page; https:// when it has no scheme, http:// on loopback hosts')
    command.option('-o, --output <folder>', 'write a file a page into folders that mirror the site, with index.md and manifest.json') // prettier-ignore
    command.option('--ndjson', 'print every page as one line of JSON, in order, as soon as it is there')
    command.option('--dry-run', 'print the addresses of the pages that would be there, and take none of them')
    for (const param of fieldsOf(invocation)) if (param.name !== 'dry_run') addParam(command, param)
    command.option('--prompt <text>', 'what the json format is to find, in words')
    command.option('--schema <json|@file>', 'JSON schema of what the json format is to find')
    command.option('--fail-on-error', 'exit with 1 when any page could not be had')
    command.option('--async', 'let the local engine or the server do it; print its id and end')
    const group = (option: Option) => command.addOption(option.helpGroup('Crawls that were begun:'))
    group(new Option('--resume <id>', 'go on with one that was cut off, or take the pages of one that runs or is complete')) // prettier-ignore
    group(new Option('--status <id>', 'show where one stands'))
    group(new Option('--cancel <id>', 'end one; what it has found stays'))
  })
}

const fieldsOf = ({ manifest }: Invocation) =>
  operationNamed(manifest, 'crawl').params.filter(({ name }) => name !== 'url' && name !== 'async')

/** @throws BaxError `invalid_request` for what cannot be asked of a crawl that was begun with other wishes */
function checkKnown(invocation: Invocation, { words, flags }: Typed, verbs: readonly string[]): void {
  const fail = (what: string, hint: string) => new BaxError('invalid_request', what, { hint })
  if (verbs.length > 1) throw fail(`--${verbs.join(' and --')} do not go together`, 'use one of them')
  if (words[0] !== undefined) throw fail(`--${verbs[0]} takes no <url>`, 'the id alone names the crawl')
  const own = [...fieldsOf(invocation).map(({ name }) => name), 'prompt', 'schema', 'async']
  const given = own.find((name) => flags[attributeOf({ name } as never)] !== undefined)
  if (given)
    throw fail(`--${kebab(given)} does not go with --${verbs[0]}`, 'a crawl keeps the wishes that it was begun with')
}

function readWishes(context: Context, typed: Typed): Wishes {
  const operation = operationNamed(context.manifest, 'crawl')
  if (typed.words[0] === undefined) {
    throw new BaxError('invalid_request', '<url> is missing', {
      hint: 'usage: bax crawl <url>; see `bax crawl --help`',
    })
  }
  const params = operation.params.filter(({ name }) => name !== 'async')
  const { input } = readOperation(context, { ...operation, params }, typed)
  if (typed.flags['output'] !== undefined && input['dry_run'] === true) {
    throw new BaxError('invalid_request', '--dry-run gets no pages that --output could write', { hint: 'leave one of them out' }) // prettier-ignore
  }
  return withJsonWishes(input, typed.flags, context.io.cwd)
}

/** Begins a crawl that goes on without this command. */
async function startOnly(context: Context, wishes: Wishes): Promise<number> {
  if (context.settings.embedded) {
    throw new BaxError('invalid_request', '--async does not go with --embedded: that engine ends with the command')
  }
  const home = openHome(context, { when: 'start' })
  try {
    const accepted = await startCrawl(context, home, wishes)
    print(context.io, context.settings.json ? JSON.stringify(accepted) : accepted.id)
    return 0
  } finally {
    await home.transport.close()
  }
}

async function showStatus({ io, settings, manifest }: Context, calls: CrawlCalls): Promise<number> {
  const state = await calls.state(0, 0, io.signal)
  const { data: _, next: __, ...facts } = state
  await showAnswer(io, { ...operationNamed(manifest, 'getCrawl'), show: { as: 'record' } }, settings.json ? state : facts, settings.json) // prettier-ignore
  return 0
}

async function cancel({ io, settings, manifest }: Context, calls: CrawlCalls): Promise<number> {
  const answer = await calls.cancel(io.signal)
  await showAnswer(io, { ...operationNamed(manifest, 'cancelCrawl'), show: { as: 'field', field: 'status' } }, answer, settings.json) // prettier-ignore
  return 0
}
