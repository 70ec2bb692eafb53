/** `bax api`: sends any request to the API. */
import { requiredWord, textFlag } from '../../lines/typed.ts'
import { Argument } from 'commander'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { route } from '../../core/operation/route.ts'
import type { Context } from '../context.ts'
import { type Need, withEngine } from '../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { print } from '../io.ts'
import { printError } from '../output/errors.ts'
import { whileRead } from '../output/reader.ts'
import { needOf } from '../engine/need.ts'
import { readJson } from '../parse/read-json.ts'

export const command: TerminalCommand = {
  cli: 'api <METHOD> <path>',
  summary: 'Send a request to the API',
  example: [
    "bax api GET '/sessions?status=all'",
    `bax api POST /commands --data '{"commands":[{"command":"get_title"}]}'`,
    'bax api DELETE /sessions/shop',
  ],
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<METHOD>', 'GET, POST, PUT or DELETE'))
      command.addArgument(new Argument('<path>', 'path with query, such as /sessions?status=all'))
      command.option('-d, --data <json|@file|->', 'body of the request; - for standard input')
    })
    const path = requiredWord(typed.words, 1)
    const method = requiredWord(typed.words, 0).toUpperCase()
    const given = textFlag(typed.flags, 'data')
    const data = given === undefined ? undefined : (await readJson(context.io, given, '--data')).text
    if (data !== undefined && (method === 'GET' || method === 'DELETE'))
      throw new BaxError('invalid_request', `${method} takes no --data`)
    return send(context, { method, path: path.startsWith('/') ? path : `/${path}`, data })
  },
}

interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly data?: string | undefined
}

/** Sends a request and prints the response; an error response decides the exit code. */
export async function send(context: Context, request: ApiRequest): Promise<number> {
  const { io } = context
  // Other requests have an effect, which a closed standard output must not interrupt.
  if (request.method !== 'GET') return sendUntil(context, request, io.signal)
  let code: number = exits.done
  await whileRead(io, async (signal) => void (code = await sendUntil(context, request, signal)))
  return code
}

async function sendUntil(context: Context, { method, path, data }: ApiRequest, signal: AbortSignal): Promise<number> {
  const { io } = context
  return withEngine(context, needOfRequest(context, method, path), async (engine) => {
    const response = await engine.transport.send({
      method,
      path,
      ...(data !== undefined && { body: data, headers: { 'content-type': 'application/json' } }),
      signal,
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
    await printError(io, error.message, error.hint)
    return error.exit
  })
}

function needOfRequest({ manifest }: Context, method: string, path: string): Need {
  const bare = path.replace(/\?.*$/, '')
  const operation = manifest.operations.find(({ http }) => {
    const known = route(http)
    return known.method === method && known.path === bare
  })
  return operation ? needOf(operation, {}) : { when: 'ask' }
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not an answer of bax; `BaxError.fromBody` reports it.
    return undefined
  }
}
