/** The API of bax as a separate process, for Firecrawl's MCP server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function serveApi(program: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'bax-bench-mcp-'))
  const flags = ['serve', '--port', '0', '--allow-private', '127.0.0.1', '--state-dir', stateDir]
  const child = spawn(process.execPath, [program, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  let log = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      log += String(chunk)
      const found = /bax is listening on (http:\/\/[\d.:]+)/.exec(log)
      if (found) resolve(found[1]!)
    })
    void ended.then(() => reject(new Error(log)))
  })
  return {
    url,
    async close() {
      child.kill('SIGTERM')
      await ended
      await rm(stateDir, { recursive: true, force: true })
    },
  }
}
