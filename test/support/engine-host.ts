/** A process of its own that hosts an engine with one session, made from the sources, for tests that kill it. */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import { esbuildInlinePage } from '../../scripts/inline-page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface EngineHost {
  readonly process: ChildProcess
  /** The browser's own process. */
  readonly browserPid: number
  close(): Promise<void>
}

/** Starts it with its temporary files in `temporary`; resolves when its session is ready. */
export async function startEngineHost(temporary: string): Promise<EngineHost> {
  // Below node_modules, where the bundle finds the packages that are not part of it.
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'bax-host-'))
  const script = join(folder, 'host.mjs')
  await writeFile(join(folder, 'source.ts'), source(join(folder, 'state')))
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
  const child = fork(script, { env: { ...process.env, TMPDIR: temporary }, execArgv: [] })
  const browserPid = await new Promise<number>((resolve, reject) => {
    child.once('message', (pid) => resolve(pid as number))
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
  })
  return {
    process: child,
    browserPid,
    close: async () => {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const source = (stateDir: string): string => `
import { createEngine } from ${JSON.stringify(join(root, 'src/engine/index.ts'))}
const stateDir = ${JSON.stringify(stateDir)}
const engine = createEngine({
  home: 'server', stateDir, cacheDir: stateDir, display: false, writeAnywhere: true, log: () => {},
})
const call = { signal: new AbortController().signal, baseUrl: 'http://localhost', socketBaseUrl: null, requestId: 'req_test' }
const input = { use_random_user_agent: false, disable_automation_detection: false, idle_timeout_secs: 0, timeout_secs: 60, keep_alive: false, save_profile: false }
await engine.sessions.create(input, call)
const { browsers } = await engine.status()
process.send(browsers[0].pid)
`
