/** `bax crawl`: crawls a site to standard output or a folder; shows, resumes and cancels crawls. */
import { Option } from 'commander'
import { type Unchecked, uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { type CrawlCalls, crawlCalls } from '../crawl/crawl-calls.ts'
import { crawlToEnd } from '../crawl/crawl-to-end.ts'
import { type Context, operationNamed } from '../context.ts'
import { crawlSince, startSince } from '../crawl/since.ts'
import { addParam } from '../../lines/flags.ts'
import { withEngine } from '../engine/locate-engine.ts'
import { parseInvocation, type Invocation, type TerminalCommand } from '../parse/invocation.ts'
import { print } from '../io.ts'
import { showAnswer } from '../output/output.ts'
import { readOperation } from '../run-operation.ts'
import { addIdentityFlags, addProxyFlag, ownAttributes, withIdentity } from '../scrape/identity-flags.ts'
import { addFormatFlags, formatFlags, withFormatFlags } from '../scrape/format-flags.ts'
import { attributeOf, kebab, type TypedArguments } from '../../lines/values.ts'

export const command: TerminalCommand = {
  cli: 'crawl <url>',
  summary: 'Crawl a site into Markdown',
  place: 'own process',
  async run(invocation) {
    const { context, typed } = readTyped(invocation)
    const { flags } = typed
    const known = (['resume', 'status', 'cancel'] as const).filter((verb) => flags[verb] !== undefined)
    if (known.length > 0) checkKnown(invocation, typed, known)
    checkFollowed(flags)
    const input = known.length > 0 ? uncheckedFields({}) : await readInput(context, typed)
    if (flags['async'] === true) return startOnly(context, input, flags['since'])
    return withEngine(context, { when: 'ask', sameEngine: true }, async (engine) => {
      const calls = (id: unknown) => crawlCalls(engine, String(id))
      if (flags['status'] !== undefined) return await showStatus(context, calls(flags['status']))
      if (flags['cancel'] !== undefined) return await cancel(context, calls(flags['cancel']))
      const resumed = flags['resume'] === undefined ? undefined : calls(flags['resume'])
      return await crawlToEnd({ context, engine, flags, input, ...(resumed && { resumed }) })
    })
  },
}

function readTyped(invocation: Invocation): { context: Context; typed: TypedArguments } {
  return parseInvocation(invocation, (command) => {
    command.argument('[url]', 'start page; the default scheme is https, on loopback hosts http')
    command.option(
      '-o, --output <folder>',
      'folder to write one file per page to, with index.md and manifest.json; with --since also changes.diff',
    )
    command.option(
      '--report <file>',
      'HTML file to write a summary to: pages, depth, status, time, and what was skipped',
    )
    command.option('--ndjson', 'stream one JSON object per page, in crawl order')
    command.option('--dry-run', 'print the URLs of the pages instead of their content')
    for (const param of fieldsOf(invocation)) if (param.name !== 'dry_run') addParam(command, param)
    addFormatFlags(command)
    addIdentityFlags(command)
    addProxyFlag(command)
    command.option('--fail-on-error', 'exit with 1 if any page fails')
    command.option('--async', 'print the ID of the crawl without waiting for it')
    const group = (option: Option) => command.addOption(option.helpGroup('Existing crawls:'))
    group(new Option('--resume <id>', 'crawl to resume; prints the pages of one that runs or has ended'))
    group(new Option('--status <id>', 'crawl to show the state of'))
    group(new Option('--cancel <id>', 'crawl to cancel; its pages are kept'))
  })
}

const fieldsOf = ({ manifest }: Invocation) =>
  operationNamed(manifest, 'crawl').params.filter(({ name }) => name !== 'url' && name !== 'async')

/** @throws BaxError `invalid_request` for flags that do not apply to an existing crawl */
function checkKnown(invocation: Invocation, { words, flags }: TypedArguments, verbs: readonly string[]): void {
  const fail = (what: string, hint: string) => new BaxError('invalid_request', what, { hint })
  if (verbs.length > 1) throw fail(`--${verbs.join(' and --')} exclude each other`, 'use one of them')
  if (words[0] !== undefined) throw fail(`--${verbs[0]} takes no <url>`, 'leave out the URL')
  const fields = fieldsOf(invocation).map(({ name }) => name)
  const own = [...fields, ...formatFlags, 'header', 'cookie', 'cookies', 'proxy', 'async']
  const given = own.find((name) => flags[ownAttributes[name] ?? attributeOf({ name })] !== undefined)
  if (given)
    throw fail(
      `--${kebab(given)} cannot be combined with --${verbs[0]}`,
      `leave out --${kebab(given)}: a crawl keeps its options`,
    )
}

/** @throws BaxError `invalid_request` for a summary of a crawl that is not followed */
function checkFollowed(flags: TypedArguments['flags']): void {
  const other = flags['report'] !== undefined && ['async', 'status', 'cancel'].find((name) => flags[name] !== undefined)
  if (!other) return
  throw new BaxError('invalid_request', `--report and --${other} exclude each other`, {
    hint: 'get the summary of an existing crawl with "bax crawl --resume ID --report FILE"',
  })
}

/** Reads the fields of a new crawl. @throws BaxError `invalid_request` */
async function readInput(context: Context, typed: TypedArguments): Promise<Unchecked> {
  const operation = operationNamed(context.manifest, 'crawl')
  if (typed.words[0] === undefined) {
    throw new BaxError('invalid_request', '<url> is missing', { hint: 'run "bax crawl --help" for details' })
  }
  const params = operation.params.filter(({ name }) => name !== 'async')
  const { input } = readOperation(context, { ...operation, params }, typed)
  if (typed.flags['output'] !== undefined && input['dry_run'] === true) {
    throw new BaxError('invalid_request', '--dry-run and --output exclude each other', { hint: 'use one of them' })
  }
  const { since, ...others } = input
  const id = typeof since === 'string' ? await crawlSince(context, since) : undefined
  const own = withIdentity({ ...others, ...(id !== undefined && { since: id }) }, typed.flags, context.io.cwd)
  return withFormatFlags(own, typed.flags, context.io.cwd)
}

/** Starts a crawl that continues without this command. */
async function startOnly(context: Context, input: Unchecked, since: unknown): Promise<void> {
  if (context.settings.embedded) {
    throw new BaxError(
      'invalid_request',
      '--async and --embedded exclude each other: an embedded engine ends with the command',
    )
  }
  return withEngine(context, { when: 'start' }, async (engine) => {
    const { isCompared: _, ...accepted } = await startSince(context, engine, input, since)
    print(context.io, context.settings.json ? JSON.stringify(accepted) : accepted.id)
  })
}

async function showStatus({ io, settings, manifest }: Context, calls: CrawlCalls): Promise<void> {
  const state = await calls.state(0, 0, io.signal)
  const { data: _, next: __, ...facts } = state
  await showAnswer(
    io,
    { ...operationNamed(manifest, 'getCrawl'), show: { as: 'record' } },
    settings.json ? state : facts,
    settings.json,
  )
}

async function cancel({ io, settings, manifest }: Context, calls: CrawlCalls): Promise<void> {
  const answer = await calls.cancel(io.signal)
  await showAnswer(
    io,
    { ...operationNamed(manifest, 'cancelCrawl'), show: { as: 'field', field: 'status' } },
    answer,
    settings.json,
  )
}
