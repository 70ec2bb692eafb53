/** Prints the response of `bax request`, and returns the exit code. */
import { STATUS_CODES } from 'node:http'
import { posix } from 'node:path'
import type { Answer } from '../../client/calls.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { decodeUrlPart } from '../../core/net/urls.ts'
import { textFlag } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import type { Context } from '../context.ts'
import { type Io, print } from '../io.ts'
import { printError } from '../output/errors.ts'
import { showWarning } from '../output/output.ts'
import { isStdout, saveBytes, targetOf } from '../shell/save-files.ts'
import { writeThrough } from '../shell/write-through.ts'

type Response = Answer<'sendRequest'>

export async function showResponse(
  { io, settings }: Context,
  flags: TypedArguments['flags'],
  response: Response,
): Promise<number> {
  // The engine reports failed connections with HTTP status 200 and "success": false.
  if (!response.success) throw BaxError.fromBody(response)
  const output = textFlag(flags, 'output')
  const path = output === undefined || isStdout(output) ? undefined : await save(io.cwd, output, response)
  if (settings.json) print(io, JSON.stringify(path === undefined ? response : savedAs(path, response)))
  else {
    if (flags['include'] === true) io.stdout.write(headOf(response))
    if (path === undefined) await printBody(io, response, output !== undefined)
    else print(io, path)
    await showWarning(io, response)
  }
  const { status } = response
  if (flags['fail'] !== true || status < 400) return exits.done
  await printError(io, `the server responded with ${statusOf(status)}`)
  return exits.failed
}

const statusOf = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim()

function headOf({ status, headers }: Response): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => value.split('\n').map((one) => `${name}: ${one}`))
  return [`HTTP/1.1 ${statusOf(status)}`, ...lines, '', ''].join('\n')
}

const bytesOf = ({ body = '', body_base64 }: Response): Buffer =>
  body_base64 === undefined ? Buffer.from(body) : Buffer.from(body_base64, 'base64')

async function printBody(io: Io, response: Response, isAsked: boolean): Promise<void> {
  const { body } = response
  const isTerminal = io.stdout.isTTY === true
  if (body === undefined) {
    if (isTerminal && !isAsked)
      throw new BaxError('invalid_request', `the response has ${response.size} bytes that are not text`, {
        hint: 'write them to a file with -o FILE, or to the terminal with -o -',
      })
    return writeThrough(io.stdout, bytesOf(response))
  }
  if (body !== '') io.stdout.write(isTerminal && !body.endsWith('\n') ? `${body}\n` : body)
}

/** Writes the body to a file; returns its path. */
async function save(cwd: string, output: string, response: Response): Promise<string> {
  const path = await targetOf(cwd, output, posix.basename(decodeUrlPart(new URL(response.url).pathname)) || 'index')
  await saveBytes(
    path,
    (async function* () {
      yield bytesOf(response)
    })(),
  )
  return path
}

const savedAs = (path: string, { body: _body, body_base64: _bytes, ...facts }: Response) => ({ ...facts, path })
