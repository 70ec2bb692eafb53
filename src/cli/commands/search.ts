/** `bax search`: searches the web, and scrapes the results on request. */
import { listedWords, textFlag, textFlags } from '../../lines/typed.ts'
import type { Unchecked } from '../../client/calls.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { SearchAnswer } from '../../core/shapes/search.ts'
import { noEngineFor } from '../session/chosen-session.ts'
import { type Context, operationNamed } from '../context.ts'
import { addParam } from '../../lines/flags.ts'
import { type Need, withEngine } from '../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { note, print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { withClock } from '../output/progress.ts'
import { readOperation } from '../run-operation.ts'
import { addFormatFlags, withFormatFlags } from '../scrape/format-flags.ts'
import { addProxyFlag, withIdentity } from '../scrape/identity-flags.ts'
import { reportMissing, saveResults, showResults } from '../search/results.ts'
import type { TypedArguments } from '../../lines/values.ts'

/** Fields without a flag of their own. */
const notFlags = new Set(['query', 'session_id', 'scrape_options'])

export const command: TerminalCommand = {
  cli: 'search <query>',
  summary: 'Search the web and scrape the results',
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'search')
    const params = operation.params.filter(({ name }) => !notFlags.has(name))
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('<query...>', 'search query; several words are one query')
      for (const param of params) addParam(command, param)
      addFormatFlags(command)
      addProxyFlag(command)
      command.option('-o, --output <folder>', 'folder for the pages, as Markdown unless --formats is given')
      command.option('-s, --session <id|name>', 'session to scrape the results with, in new tabs')
      command.option('--ndjson', 'print one JSON result per line')
    })
    const { input } = readOperation(context, { ...operation, cli: 'search', params }, typed)
    const body = bodyOf(context, input, typed)
    return withEngine(...engineFor(context, body.session_id), async ({ ask }) => {
      const options = { signal: context.io.signal, strict: true }
      const answer = await withClock(context.io, titleOf(body), () => ask('search', body, options))
      return show(context, typed, answer)
    })
  },
}

const titleOf = ({ query, limit, formats }: Record<string, unknown>): string => {
  const most = limit === undefined ? '' : ` (at most ${String(limit)})`
  return `searching ${String(query)}${formats === undefined ? '' : `, and scraping the results${most}`}`
}

/** Returns the body of the request. @throws BaxError `invalid_request` for conflicting flags */
function bodyOf({ io, settings }: Context, input: Unchecked, { words, flags }: TypedArguments) {
  const query = listedWords(words, 0).join(' ')
  const [session, output] = [textFlag(flags, 'session'), textFlag(flags, 'output')]
  const formats = input['formats'] ?? (output === undefined ? undefined : ['markdown'])
  const own = withFormatFlags({ ...input, ...(formats !== undefined && { formats }) }, flags, io.cwd)
  const body = withIdentity(own, flags, io.cwd)
  const hasScreenshots = textFlags(body, 'formats').some((name) => name.startsWith('screenshot'))
  if (hasScreenshots && output === undefined && !settings.json && flags['ndjson'] !== true) {
    throw new BaxError('invalid_request', 'screenshots of results need a folder', { hint: 'add -o FOLDER or --json' })
  }
  return { ...body, query, ...(session !== undefined && { session_id: session }) }
}

/**
 * Returns the context and the need for `withEngine`: the engine of the session, an embedded one if this terminal has its
 * own search settings, otherwise any engine.
 */
function engineFor(context: Context, sessionId: string | undefined): [Context, Need] {
  const { settings } = context
  if (sessionId !== undefined) return [context, { when: 'running', absent: noEngineFor(sessionId) }]
  const own = settings.search !== undefined && settings.server === undefined
  return [own ? { ...context, settings: { ...settings, embedded: true } } : context, { when: 'ask' }]
}

async function show(context: Context, { flags }: TypedArguments, answer: SearchAnswer): Promise<number> {
  const { io, settings } = context
  const output = textFlag(flags, 'output')
  const { data } = answer
  const saved = output === undefined || output === '-' ? undefined : saveResults(context, output, answer)
  if (settings.json) print(io, JSON.stringify(answer))
  else if (flags['ndjson'] === true) for (const result of data) print(io, JSON.stringify(result))
  else if (saved) for (const path of saved) print(io, path)
  else await showResults(io, data)
  if (data.length === 0) note(io, `no results from ${answer.provider}`)
  const missing = await reportMissing(io, data)
  await showWarning(io, answer)
  return missing > 0 && missing === data.length ? exits.failed : exits.done
}
