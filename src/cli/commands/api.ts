/** `bax api`: any request to the API, for what has no command of its own. */
import { Argument } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import { route } from '../../core/operation/operation.ts'
import type { Context } from '../context.ts'
import { type Need, openHome } from '../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { print, readStdin } from '../io.ts'
import { tell } from '../output/errors.ts'
import { outlivesItself, runningEngine } from '../engine/need.ts'
import { fileText } from '../parse/values.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      command.addArgument(new Argument('<METHOD>', 'GET, POST, PUT or DELETE'))
      command.addArgument(new Argument('<path>', 'path with query, e.g. /sessions?status=all'))
      command.option('-d, --data <json|@file|->', 'body of the request; - reads standard input')
    })
    const [method, path] = (typed.words as [string, string]).map((word, at) =>
      at === 0 ? word.toUpperCase() : word,
    ) as [string, string]
    const data = await readBody(context, typed.flags['data'] as string | undefined)
    if (data !== undefined && (method === 'GET' || method === 'DELETE'))
      throw new BaxError('invalid_request', `${method} takes no --data`)
    return send(context, { method, path: path.startsWith('/') ? path : `/${path}`, data })
  },
}

async function readBody({ io }: Context, data: string | undefined): Promise<string | undefined> {
  if (data === undefined) return undefined
  const text = data === '-' ? await readStdin(io) : data.startsWith('@') ? fileText(data, '--data', io.cwd) : data
  try {
    JSON.parse(text)
  } catch (error) {
    throw new BaxError('invalid_json', `--data is not JSON: ${(error as Error).message}`, { cause: error })
  }
  return text
}

/** Sends a request as it is and prints what comes back; a refusal is told and decides the exit code. */
export async function send(
  context: Context,
  { method, path, data }: { method: string; path: string; data?: string | undefined },
): Promise<number> {
  const { io } = context
  const home = openHome(context, needOf(context, method, path))
  try {
    const response = await home.transport.send({
      method,
      path,
      ...(data !== undefined && { body: data, headers: { 'content-type': 'application/json' } }),
      signal: io.signal,
    })
    if (response.status < 400) {
      let last = ''
      const decoder = new TextDecoder()
      for await (const chunk of response.stream()) io.stdout.write((last = decoder.decode(chunk, { stream: true })))
      if (last !== '' && !last.endsWith('\n')) io.stdout.write('\n')
      return 0
    }
    const text = await response.text()
    print(io, text)
    const error = BaxError.fromBody(asJson(text), response.status === 401 ? 'unauthorized' : 'internal_error')
    await tell(io, error.message, error.hint)
    return error.exit
  } finally {
    await home.transport.close()
  }
}

function needOf({ manifest }: Context, method: string, path: string): Need {
  const bare = path.replace(/\?.*$/, '')
  const operation = manifest.operations.find(({ http }) => {
    const known = route(http)
    return known.method === method && known.path === bare
  })
  if (operation?.name === 'stopEngine' || operation?.name === 'getEngineStatus') return runningEngine
  return operation && outlivesItself(operation) ? { when: 'start' } : { when: 'ask' }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not from a bax server; the caller says so in its own words.
    return undefined
  }
}
