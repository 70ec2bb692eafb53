/** Passes the response of a worker on to the client. */
import type { IncomingMessage } from 'node:http'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { type BodyHash, bodyHash, isSame } from '../access/signed-body.ts'
import { contentHeader } from '../access/signed-caller.ts'
import type { AppContext } from '../request/env.ts'
import { byteStream } from '../request/byte-stream.ts'
import { outgoingOf } from '../request/requests.ts'
import { responseHeaders } from './headers.ts'
import { LostWorker } from './worker-requests.ts'

/**
 * Returns the response of a worker. A small one is read first, so that the client gets all of it or an error; a large
 * one is streamed, and cut off for the client where the worker is lost.
 * @throws LostWorker
 */
export async function relayResponse(context: AppContext, response: IncomingMessage): Promise<Response> {
  const status = response.statusCode!
  const headers = responseHeaders(response)
  const length = Number(response.headers['content-length'] ?? Infinity)
  if (context.req.method === 'HEAD' || status === 204 || status === 304) {
    response.resume()
    return respond(context, null, status, headers)
  }
  if (length <= limits.gateway.bufferedBytes) {
    const bytes = await readAll(response)
    // Node writes headers and text at once, and bytes after the headers, which takes longer.
    const isJson = response.headers['content-type']?.startsWith('application/json')
    return respond(context, isJson ? bytes.toString() : bytes, status, headers)
  }
  const body = byteStream(chunksOf(response), outgoingOf(context.env), () => response.destroy())
  return respond(context, body, status, headers)
}

const chunksOf = (response: IncomingMessage): AsyncIterator<Uint8Array> =>
  response.headers[contentHeader] === undefined
    ? (response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>)
    : verified(response)

/** Reads a response; its last part is only returned if the content is the one that the worker has signed. */
async function* verified(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const hash = bodyHash()
  let last: Uint8Array | undefined
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    if (last) yield last
    last = chunk
  }
  if (!isSigned(response, hash)) throw changedContent()
  if (last) yield last
}

/** Whether a response has the content with its digest. Streams have none. */
function isSigned({ headers }: IncomingMessage, hash: BodyHash): boolean {
  const expected = headers[contentHeader]
  return typeof expected !== 'string' || isSame(hash.digest('base64url'), expected)
}

const changedContent = (): LostWorker =>
  new LostWorker(
    new BaxError('fleet_unavailable', 'the content of the answer is not the one that the worker has signed', {
      hint: 'encrypt the connections to workers: see "bax help scaling-out"',
    }),
    true,
  )

/** Reads a whole response. @throws LostWorker */
export function readAll(response: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer<ArrayBuffer>[] = []
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new LostWorker(error, true))
    const close = () => fail(response.errored ?? new Error('the worker closed the connection'))
    if (response.destroyed) return close()
    response.on('data', (chunk: Buffer<ArrayBuffer>) => chunks.push(chunk))
    response.once('error', fail).once('close', close)
    response.once('end', () => {
      response.off('close', close)
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      if (isSigned(response, bodyHash().update(bytes))) resolve(bytes)
      else reject(changedContent())
    })
  })
}

function respond(
  context: AppContext,
  body: Uint8Array<ArrayBuffer> | string | ReadableStream | null,
  status: number,
  headers: Record<string, string | string[]>,
): Response {
  return context.newResponse(body, status as 200, headers)
}
