/** A separate process with an engine that crawls, for tests that kill it. */
import type { ChildProcess } from 'node:child_process'
import { makeHostProgram } from './host-process.ts'

export interface CrawlHost {
  readonly stateDir: string
  /** Starts the process with a new crawl or a resumed one; resolves with its ID once it runs. */
  start(task: { input: Record<string, unknown> } | { resume: string }): Promise<{ id: string; process: ChildProcess }>
  close(): Promise<void>
}

export async function makeCrawlHost(): Promise<CrawlHost> {
  const program = await makeHostProgram(source)
  return {
    stateDir: program.stateDir,
    start: async (task) => {
      const { process, message } = await program.start<string>([JSON.stringify(task)])
      return { id: message, process }
    },
    close: program.close,
  }
}

const source = `
import { createEngine } from './src/engine/index.ts'
import { crawlInput } from './src/core/shapes/crawl.ts'
const engine = createEngine({
  home: 'embedded', stateDir, cacheDir: stateDir, display: false, writeAnywhere: true, log: () => {},
})
const call = { signal: new AbortController().signal, baseUrl: 'http://localhost', socketBaseUrl: null, requestId: 'req_test', caller: { keyId: null, name: null, scopes: [], admin: true } }
const task = JSON.parse(process.argv[2])
const { id } = task.resume
  ? await engine.crawls.resume(task.resume, call)
  : await engine.crawls.crawl(crawlInput.parse({ ...task.input, async: true }), call)
process.send(id)
`
