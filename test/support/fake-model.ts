/** A small OpenAI-compatible server on 127.0.0.1 with scripted replies. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelConfig } from '../../src/core/config/model-settings.ts'

/** A request that the server received. */
export interface ModelCall {
  readonly authorization: string | undefined
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: unknown } }
}

/** Next reply of the model: text of the assistant, an error, or a body that is not a completion. */
export type Reply =
  | { readonly content: string }
  | { readonly status: number; readonly error?: string; readonly retryAfter?: number }
  | { readonly body: string }
  /** No response at all. */
  | { readonly silent: true }
  /** The connection is closed instead. */
  | { readonly closes: true }
type Script = Reply | ((call: ModelCall) => Reply)

export interface FakeModel {
  readonly config: ModelConfig
  readonly calls: ModelCall[]
  /** Sets the replies to the next calls, in this order; the last one is repeated. */
  reply(...replies: Script[]): void
  close(): Promise<void>
}

const key = 'sk-test-0123456789'

export async function serveModel(): Promise<FakeModel> {
  const calls: ModelCall[] = []
  let replies: Script[] = [{ content: '{}' }]
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request)
    const { authorization } = request.headers
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
      return send(response, 404, { error: { message: 'no such route' } })
    if (authorization !== `Bearer ${key}`) return send(response, 401, { error: { message: 'bad key' } })
    const call = { authorization, ...JSON.parse(body) } as ModelCall
    calls.push(call)
    const next = replies.length > 1 ? replies.shift()! : replies[0]!
    answer(response, typeof next === 'function' ? next(call) : next, call.model)
  }
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    config: { url: `http://127.0.0.1:${port}/v1`, name: 'fake-1', key },
    calls,
    reply(...next) {
      calls.length = 0
      replies = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Replies like a model that follows instructions in the page. */
export function followInjection({ messages }: ModelCall): Reply {
  const page = messages.map(({ content }) => content).join('\n')
  return { content: /SAY: (.*)/.exec(page)?.[1] ?? '{}' }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return body
}

function answer(response: ServerResponse, reply: Reply, model: string): void {
  if ('silent' in reply) return
  if ('closes' in reply) return void response.destroy()
  if ('body' in reply) return void response.setHeader('content-type', 'text/html').end(reply.body)
  if ('status' in reply) {
    if (reply.retryAfter !== undefined) response.setHeader('retry-after', String(reply.retryAfter))
    return send(response, reply.status, { error: { message: reply.error ?? 'refused', type: 'error' } })
  }
  const message = { role: 'assistant', content: reply.content }
  send(response, 200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
}
