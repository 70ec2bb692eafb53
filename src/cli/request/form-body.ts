/** Encodes the parts of `--form`, which are written as for curl, as multipart/form-data. */
import { randomBytes } from 'node:crypto'
import { basename, extname } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { fileText } from '../../lines/values.ts'
import { type Io, readStdinBytes } from '../io.ts'

interface Part {
  readonly name: string
  readonly source: { readonly kind: 'text' | 'file' | 'text of file'; readonly value: string }
  readonly type?: string | undefined
  readonly filename?: string | undefined
}

/** Returns the encoded parts and their content type. @throws BaxError `invalid_request` */
export async function encodeForm(io: Io, texts: readonly string[]): Promise<{ bytes: Buffer; type: string }> {
  const parts = texts.map(readPart)
  if (parts.filter(isStdin).length > 1)
    throw new BaxError('invalid_request', '--form reads standard input (-) only once')
  // Random, so that no content contains it.
  const boundary = `bax-${randomBytes(24).toString('hex')}`
  const pieces: Buffer[] = []
  for (const part of parts) {
    const head = [`--${boundary}`, dispositionOf(part), ...typeOf(part), '', '']
    pieces.push(Buffer.from(head.join('\r\n')), await contentOf(io, part), Buffer.from('\r\n'))
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  return { bytes: Buffer.concat(pieces), type: `multipart/form-data; boundary=${boundary}` }
}

/** The last option of a part; its value may be quoted. */
const option = /;\s*(type|filename)=(?:"((?:[^"\\]|\\.)*)"|((?:[^";]|;(?!\s*(?:type|filename)=))*))$/s

/** Content types of files, by the end of their names, as in curl. */
const types: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  htm: 'text/html',
  html: 'text/html',
  pdf: 'application/pdf',
  xml: 'application/xml',
}

/** Reads `name=value`, `name=@file` or `name=<file`, with `;type=…` and `;filename=…` after it. */
function readPart(text: string): Part {
  const at = text.indexOf('=')
  // The value is not repeated: it may be a secret.
  if (at < 1) throw new BaxError('invalid_request', '--form must be written as name=value or name=@file')
  const name = text.slice(0, at)
  let rest = text.slice(at + 1)
  const given: { type?: string; filename?: string } = {}
  for (let found = option.exec(rest); found; found = option.exec(rest)) {
    const [, key, quoted, plain] = found
    given[key as 'type' | 'filename'] ??= quoted === undefined ? plain!.trim() : unescaped(quoted)
    rest = rest.slice(0, found.index)
  }
  if (given.type !== undefined && !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;[\t\u0020-\u007e]*)?$/.test(given.type))
    throw new BaxError('invalid_request', `--form ${name}: type must be a content type such as text/plain`)
  const kind = rest.startsWith('@') ? 'file' : rest.startsWith('<') ? 'text of file' : 'text'
  const value = unquoted(kind === 'text' ? rest : rest.slice(1))
  return { name, source: { kind, value }, ...given }
}

/** Returns a value without the quotes around it, which protect semicolons. */
const unquoted = (value: string): string => (/^"(?:[^"\\]|\\.)*"$/s.test(value) ? unescaped(value.slice(1, -1)) : value)

const unescaped = (text: string): string => text.replaceAll(/\\(["\\])/g, '$1')

const isStdin = ({ source: { kind, value } }: Part): boolean => kind !== 'text' && value === '-'

async function contentOf(io: Io, part: Part): Promise<Buffer> {
  const { kind, value } = part.source
  if (kind === 'text') return Buffer.from(value)
  return isStdin(part) ? readStdinBytes(io) : Buffer.from(fileText(`@${value}`, '--form', io.cwd, 'base64'), 'base64')
}

function dispositionOf({ name, source: { kind, value }, filename }: Part): string {
  const file = filename ?? (kind === 'file' ? basename(value) : undefined)
  const named = `Content-Disposition: form-data; name="${escaped(name)}"`
  return file === undefined ? named : `${named}; filename="${escaped(file)}"`
}

/** Escapes a name as browsers do (https://html.spec.whatwg.org/#multipart-form-data). */
const escaped = (name: string): string => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

function typeOf({ source: { kind, value }, filename, type }: Part): string[] {
  const ending = extname(filename ?? value)
    .slice(1)
    .toLowerCase()
  const known = type ?? (kind === 'file' ? (types[ending] ?? 'application/octet-stream') : undefined)
  return known === undefined ? [] : [`Content-Type: ${known}`]
}
