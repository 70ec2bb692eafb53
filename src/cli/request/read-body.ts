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
  const used = Object.keys(bodyFlags).filter((name) => flags[name] !== undefined)
  if (used.length === 0) return undefined
  if (used.length > 1)
    throw new BaxError('invalid_request', `${used.map((name) => bodyFlags[name]).join(' and ')} exclude each other`, {
      hint: 'give one of them',
    })
  const headers = (given ?? {}) as Headers
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  if (hasType && used[0] === 'form')
    throw new BaxError('invalid_request', '--form and --header Content-Type exclude each other', {
      hint: 'leave out the header: --form sets it, with the boundary of the parts',
    })
  const { bytes, type } = await encoded(io, flags)
  return {
    body_base64: Buffer.from(bytes).toString('base64'),
    headers: { ...(!hasType && { 'Content-Type': type }), ...headers },
  }
}

/** Flags of a body, by their attribute. */
const bodyFlags: Readonly<Record<string, string>> = { data: '--data', dataJson: '--data-json', form: '--form' }

async function encoded(io: Io, flags: TypedArguments['flags']): Promise<{ bytes: string | Buffer; type: string }> {
  const form = textFlags(flags, 'form')
  if (form.length > 0) return (await import('./form-body.ts')).encodeForm(io, form)
  const json = textFlag(flags, 'dataJson')
  if (json === undefined)
    return { bytes: await joined(io, textFlags(flags, 'data')), type: 'application/x-www-form-urlencoded' }
  // Sent as written: numbers would lose digits if they were parsed.
  return { bytes: (await readJson(io, json, '--data-json')).text, type: 'application/json' }
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
