/** `bax search`: what the web knows of something, and the pages themselves where they are wanted. */
import { call } from '../../client/client.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { SearchAnswer } from '../../core/shapes/search.ts'
import { noEngineFor } from '../session/chosen-session.ts'
import { type Context, operationNamed } from '../context.ts'
import { addParam } from '../parse/flags.ts'
import { type Home, openHome } from '../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { note, print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { startClock } from '../output/progress.ts'
import { readOperation } from '../run-operation.ts'
import { withJsonWishes } from '../scrape/wishes.ts'
import { showResults, tellMissing } from '../search/results.ts'
import { saveResults } from '../search/save.ts'
import type { Typed } from '../parse/values.ts'

/** Fields that are no flags: words, a flag of another name, what the other flags say already. */
const notFlags = new Set(['query', 'session_id', 'scrape_options'])

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'search')
    const params = operation.params.filter(({ name }) => !notFlags.has(name))
    const { context, typed } = begin(invocation, (command) => {
      command.argument('<query...>', 'what to look for; several words are one query')
      for (const param of params) addParam(command, param)
      command.option('--prompt <text>', 'what the json format is to find, in words')
      command.option('--schema <json|@file>', 'JSON schema of what the json format is to find')
      command.option(
        '-o, --output <folder>',
        "write the results' pages here, as Markdown unless --formats says otherwise",
      )
      command.option('-s, --session <id|name>', 'scrape the results in new tabs of this session, with its cookies')
      command.option('--ndjson', 'print the results, one a line')
    })
    const { input } = readOperation(context, { ...operation, cli: 'search', params }, typed)
    const body = wishesOf(context, input, typed)
    const home = homeFor(context, body['session_id'] as string | undefined)
    try {
      const spinner = await startClock(context.io, titleOf(body))
      const { signal } = context.io
      const answer = await call(home.transport, operation.http, body, { signal, strict: true }).finally(spinner.stop)
      return await show(context, typed, answer as SearchAnswer)
    } finally {
      await home.transport.close()
    }
  },
}

const titleOf = ({ query, limit, formats }: Record<string, unknown>): string => {
  const most = limit === undefined ? '' : ` (${String(limit)} at most)`
  return `searching ${String(query)}${formats === undefined ? '' : `, and scraping what is found${most}`}`
}

/** What is asked of the service. @throws BaxError for flags that do not go together. */
function wishesOf({ io, settings }: Context, input: Record<string, unknown>, { words, flags }: Typed) {
  const query = (words[0] as string[]).join(' ')
  const { session, output, ndjson } = flags as { session?: string; output?: string; ndjson?: boolean }
  const formats = input['formats'] ?? (output === undefined ? undefined : ['markdown'])
  const wishes = withJsonWishes({ ...input, ...(formats !== undefined && { formats }) }, flags, io.cwd)
  const pictures = ((wishes['formats'] as string[] | undefined) ?? []).some((name) => name.startsWith('screenshot'))
  if (pictures && output === undefined && !settings.json && !ndjson) {
    throw new BaxError('invalid_request', 'screenshots of results need a folder', { hint: 'add -o FOLDER, or --json' })
  }
  return { ...wishes, query, ...(session && { session_id: session }) }
}

/** A session is where it is; providers that are set up here are those of an engine that is started here. */
function homeFor(context: Context, sessionId: string | undefined): Home {
  const { settings } = context
  if (sessionId !== undefined) return openHome(context, { when: 'running', absent: noEngineFor(sessionId) })
  const own = settings.search !== undefined && settings.server === undefined
  return openHome(own ? { ...context, settings: { ...settings, embedded: true } } : context, { when: 'ask' })
}

async function show(context: Context, { flags }: Typed, answer: SearchAnswer): Promise<number> {
  const { io, settings } = context
  const output = flags['output'] as string | undefined
  const { data } = answer
  const saved = output === undefined ? undefined : saveResults(context, output, answer)
  if (settings.json) print(io, JSON.stringify(answer))
  else if (flags['ndjson'] === true) for (const result of data) print(io, JSON.stringify(result))
  else if (saved) for (const path of saved) print(io, path)
  else await showResults(io, data)
  if (data.length === 0) note(io, `${answer.provider} found nothing`)
  const missing = await tellMissing(io, data)
  await showWarning(io, answer)
  return missing > 0 && missing === data.length ? exits.failed : exits.done
}
