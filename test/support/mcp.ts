/** MCP clients: of `bax mcp` in this process, over its standard input and output. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { bax, type CliOptions, type CliResult } from './cli.ts'

/** A client and the command that serves it. */
export interface McpClient {
  readonly client: Client
  /** All of standard output so far. */
  readonly output: string[]
  readonly ended: Promise<CliResult>
  /** Calls a tool; returns its result and its text. */
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult & { readonly text: string }>
  /** Closes standard input, as hosts do; resolves when the command has ended. */
  close(): Promise<CliResult>
}

/** Starts `bax mcp` with its own engine inside this process, or in another `place`, and connects a client. */
export async function connectMcp(
  flags: readonly string[],
  options: CliOptions,
  place: readonly string[] = ['--embedded'],
): Promise<McpClient> {
  const input = new Lines()
  const output: string[] = []
  const transport = new LineTransport(input)
  const onOutput = (text: string) => {
    output.push(text)
    transport.deliver(text)
  }
  const ended = bax(['mcp', ...place, ...flags], { ...options, stdin: input, onOutput })
  const client = new Client({ name: 'test', version: '1' })
  await Promise.race([client.connect(transport), ended.then(({ stderr }) => Promise.reject(new Error(stderr)))])
  return {
    client,
    output,
    ended,
    call: (name, args = {}) => callTool(client, name, args),
    async close() {
      await client.close()
      return ended
    },
  }
}

/** Calls a tool; returns its result and its text. */
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return { ...result, text }
}

/** A queue of lines, read once. */
class Lines implements AsyncIterable<string> {
  readonly #lines: (string | null)[] = []
  #wake = () => {}

  push(line: string | null): void {
    this.#lines.push(line)
    this.#wake()
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      const line = this.#lines.shift()
      if (line === null) return
      if (line !== undefined) yield line
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

class LineTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #input: Lines
  #rest = ''

  constructor(input: Lines) {
    this.#input = input
  }

  async start(): Promise<void> {}

  /** Every line of standard output must be a message. */
  deliver(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) this.onmessage?.(JSON.parse(line) as JSONRPCMessage)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#input.push(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#input.push(null)
    this.onclose?.()
  }
}
