/** A process of its own that hosts an engine which crawls, made from the sources, for tests that kill it. */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import { esbuildInlinePage } from '../../scripts/inline-page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface CrawlHost {
  readonly stateDir: string
  /** Starts the process with a new crawl, or one to go on with; resolves with its id when it is at work. */
  start(task: { input: Record<string, unknown> } | { resume: string }): Promise<{ id: string; process: ChildProcess }>
  close(): Promise<void>
}

export async function makeCrawlHost(): Promise<CrawlHost> {
  // Below node_modules, where the bundle finds the packages that are not part of it.
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'bax-crawl-host-'))
  const stateDir = join(folder, 'state')
  const script = join(folder, 'host.mjs')
  await writeFile(join(folder, 'source.ts'), source(stateDir))
  await esbuild.build({
    entryPoints: [join(folder, 'source.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['playwright', 'playwright-core', 'dockerode'],
    plugins: [esbuildInlinePage],
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  })
  const children = new Set<ChildProcess>()
  return {
    stateDir,
    start: async (task) => {
      const child = fork(script, [JSON.stringify(task)], { execArgv: [] })
      children.add(child)
      const id = await new Promise<string>((resolve, reject) => {
        child.once('message', (message) => resolve(message as string))
        child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
      })
      return { id, process: child }
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const source = (stateDir: string): string => `
import { createEngine } from ${JSON.stringify(join(root, 'src/engine/index.ts'))}
import { crawlInput } from ${JSON.stringify(join(root, 'src/core/shapes/crawl.ts'))}
const stateDir = ${JSON.stringify(stateDir)}
const engine = createEngine({
  home: 'embedded', stateDir, cacheDir: stateDir, display: false, writeAnywhere: true, log: () => {},
})
const call = { signal: new AbortController().signal, baseUrl: 'http://localhost', requestId: 'req_test' }
const task = JSON.parse(process.argv[2])
const { id } = task.resume
  ? await engine.crawls.resume(task.resume, call)
  : await engine.crawls.crawl(crawlInput.parse({ ...task.input, async: true }), call)
process.send(id)
`
