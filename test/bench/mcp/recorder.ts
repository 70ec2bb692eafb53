/** An MCP client that counts the characters of the tool list and of each response. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

export interface Counted {
  calls: number
  characters: number
}

export class Recorder {
  readonly #client = new Client({ name: 'bench', version: '1' })
  #counted: Counted = { calls: 0, characters: 0 }
  readonly #folder: string
  /** Characters of the tool list. */
  tools = 0

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Recorder> {
    // Servers may write files into their working folder.
    const recorder = new Recorder(await mkdtemp(join(tmpdir(), 'bax-bench-mcp-')))
    const inherited = Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
    const options = {
      command: process.execPath,
      args: [...args],
      env: { ...inherited, ...env },
      cwd: recorder.#folder,
      stderr: 'ignore' as const,
    }
    await recorder.#client.connect(new StdioClientTransport(options))
    const { tools } = await recorder.#client.listTools()
    recorder.tools = JSON.stringify(tools).length
    return recorder
  }

  /** Calls a tool, and returns the text of its result. Rejects if the tool failed. */
  async call(name: string, args: Record<string, unknown>): Promise<string> {
    const request = { name, arguments: args }
    const result = (await this.#client.callTool(request, undefined, { timeout: 90_000 })) as CallToolResult
    this.#counted.calls += 1
    this.#counted.characters += JSON.stringify(result).length
    const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    if (result.isError) throw new Error(`${name}: ${text}`)
    return text
  }

  /** Returns what was counted during a task. */
  async during(task: () => Promise<void>): Promise<Counted> {
    this.#counted = { calls: 0, characters: 0 }
    await task()
    return this.#counted
  }

  async close(): Promise<void> {
    await this.#client.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Returns the first group of a pattern, such as a reference in a snapshot. Throws if the text does not match. */
export function part(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1]
  if (found === undefined) throw new Error(`nothing matches ${pattern} in ${text.slice(0, 500)}`)
  return found
}
