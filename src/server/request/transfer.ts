/** Downloads with ranges and conditional requests, and upload bodies. */
import { on } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Content } from '../../core/operation/call.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { byteStream } from './byte-stream.ts'
import type { SignedBody } from '../access/signed-body.ts'
import { isUnread } from './json-body.ts'

/** Returns the content, the requested range, or 304. HEAD gets no body. */
export function contentResponse(request: Request, content: Content, outgoing?: ServerResponse): Response {
  const { size, contentType, fileName } = content
  const tag = `"${content.etag}"`
  const headers: Record<string, string> = {
    etag: tag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    // The file may be HTML, which must not run with the rights of our origin.
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    'content-disposition': `attachment; filename*=UTF-8''${fileName}`,
  }
  if (matchesTag(request.headers.get('if-none-match'), tag)) return new Response(null, { status: 304, headers })
  const range = rangeOf(request.headers, size, tag)
  if (range === 'none') {
    throw new BaxError('range_not_satisfiable', `the range starts beyond the ${size} bytes of the content`, {
      details: { size },
    })
  }
  const { start, end } = range ?? { start: 0, end: size }
  const all = {
    ...headers,
    'content-type': contentType,
    'content-length': String(end - start),
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  }
  const body =
    request.method === 'HEAD' || start === end
      ? null
      : byteStream(content.read(start, end)[Symbol.asyncIterator](), outgoing)
  return new Response(body, { status: range ? 206 : 200, headers: all })
}

function matchesTag(header: string | null, tag: string): boolean {
  if (header === null) return false
  const tags = header.split(',').map((text) => text.trim().replace(/^W\//, ''))
  return tags.some((given) => given === '*' || given === tag)
}

type Range = { readonly start: number; readonly end: number }

/** Returns the requested range; undefined for all, which multiple and malformed ranges also get. */
function rangeOf(headers: Headers, size: number, tag: string): Range | 'none' | undefined {
  const condition = headers.get('if-range')
  if (condition !== null && condition.trim() !== tag) return undefined
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers.get('range')?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'none' : { start: size - length, end: size }
  }
  const start = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'none' : { start, end }
}

/**
 * Returns the body of an upload, as it arrives. When its reader ends early, the rest is left to the server. On a worker,
 * its end is an error if it is not the body that the gateway has signed.
 * @throws BaxError `timeout` when the client has sent nothing for `limits.connection.bodyMs`, `unauthorized`
 */
export function bodyOf(request: Request, incoming?: IncomingMessage, signed?: SignedBody): AsyncIterable<Uint8Array> {
  const chunks = isUnread(incoming)
    ? chunksOf(incoming)
    : ((request.body ?? Readable.from([])) as AsyncIterable<Uint8Array>)
  return signed ? verified(chunks, signed, incoming) : chunks
}

async function* verified(chunks: AsyncIterable<Uint8Array>, signed: SignedBody, incoming?: IncomingMessage) {
  for await (const chunk of chunks) {
    signed.update(chunk)
    yield chunk
  }
  signed.assertComplete(incoming)
}

/** Reads Node's request without a web stream, which would block what remains. */
const chunksOf = (incoming: IncomingMessage): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]() {
    if (incoming.destroyed) throw new Error('the client disconnected')
    const events = on(incoming, 'data', { close: ['end'], highWaterMark: 4, lowWaterMark: 1 })
    const deadline = { ms: limits.connection.bodyMs, error: 'timed out reading the body' }
    return {
      async next() {
        const { value, done } = await withDeadline(events.next(), deadline)
        return done ? { value: undefined, done } : { value: (value as [Uint8Array])[0], done }
      },
      async return() {
        await events.return!()
        return { value: undefined, done: true }
      },
    }
  },
})
