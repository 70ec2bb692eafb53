/** Reads the body of `bax request` from its flags. */
import { BaxError } from '../../core/errors/errors.ts'
import { textFlag, textFlags } from '../../lines/typed.ts'
import { fileText, type TypedArguments } from '../../lines/values.ts'
import { type Io, readStdinBytes } from '../io.ts'
import { readJson } from '../parse/read-json.ts'

type Headers = Readonly<Record<string, string>>

interface Body {
  readonly body_base64: string
  /** All headers, with the type of the body unless the caller names one. */
  readonly headers: Headers
}

/** Returns the fields of the body; undefined without a body. @throws BaxError `invalid_request`, `invalid_json` */
export async function readBody(io: Io, flags: TypedArguments['flags'], given: unknown): Promise<Body | undefined> {
  const parts = textFlags(flags, 'data')
  const json = textFlag(flags, 'dataJson')
  if (parts.length === 0 && json === undefined) return undefined
  if (parts.length > 0 && json !== undefined)
    throw new BaxError('invalid_request', '--data and --data-json exclude each other', { hint: 'give one of them' })
  const type = json === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
  // Sent as written: numbers would lose digits if they were parsed.
  const bytes = json === undefined ? await joined(io, parts) : (await readJson(io, json, '--data-json')).text
  const headers = (given ?? {}) as Headers
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return {
    body_base64: Buffer.from(bytes).toString('base64'),
    headers: { ...(!hasType && { 'Content-Type': type }), ...headers },
  }
}

async function joined(io: Io, parts: readonly string[]): Promise<Buffer> {
  if (parts.filter(isStdin).length > 1)
    throw new BaxError('invalid_request', '--data reads standard input (-) only once')
  const pieces: Buffer[] = []
  for (const part of parts) {
    if (pieces.length > 0) pieces.push(Buffer.from('&'))
    if (isStdin(part)) pieces.push(await readStdinBytes(io))
    else if (part.startsWith('@')) pieces.push(Buffer.from(fileText(part, '--data', io.cwd, 'base64'), 'base64'))
    else pieces.push(Buffer.from(part))
  }
  return Buffer.concat(pieces)
}

const isStdin = (part: string): boolean => part === '-' || part === '@-'
