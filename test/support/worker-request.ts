/** Requests to workers without a gateway, over connections as those of a gateway. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as send } from 'node:https'
import { text } from 'node:stream/consumers'
import { gatewayChannel } from '../../src/server/access/fleet-channel.ts'
import type { Answer } from './server.ts'

/** Options of connections to workers, with the secret in a file. */
export const channelOf = (secretFile: string): object => gatewayChannel(readFileSync(secretFile))

/** Sends JSON to a worker that has the secret in a file; returns the response with its parsed body. */
export async function requestWorker(
  { url, secretFile }: { readonly url: string; readonly secretFile: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { hostname: host, port } = new URL(url)
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const outgoing = send({
    host,
    port,
    method,
    path,
    headers: { ...headers, ...json },
    ...channelOf(secretFile),
    agent: false,
  })
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const received = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
  const content = await text(answer)
  const isJson = received.get('content-type')?.includes('json') ?? false
  return { status: answer.statusCode!, headers: received, body: isJson ? JSON.parse(content) : content }
}
