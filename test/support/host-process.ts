/** Separate processes that run a few lines on the sources of bax, for tests that kill them. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import { esbuildInlinePage } from '../../scripts/inline-page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface HostProgram {
  /** State folder of the program's engine, removed by `close`. */
  readonly stateDir: string
  /** Starts it; resolves with the process and its first message. */
  start<Message>(
    args?: readonly string[],
    env?: Record<string, string>,
  ): Promise<{ process: ChildProcess; message: Message }>
  /** Kills remaining processes, and removes the folder. */
  close(): Promise<void>
}

/** Bundles a TypeScript program that may import from `./src/…` and has its `stateDir` in a constant. */
export async function makeHostProgram(source: string): Promise<HostProgram> {
  // Below node_modules, where external packages resolve.
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'bax-host-'))
  const script = join(folder, 'host.mjs')
  const stateDir = join(folder, 'state')
  // It ends with the process of the tests, even if that is killed.
  const tied = "process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))"
  const contents = `${tied}\nconst stateDir = ${JSON.stringify(stateDir)}\n${source}`
  await esbuild.build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['playwright', 'playwright-core', 'dockerode'],
    plugins: [esbuildInlinePage],
    banner: {
      js: "import{createRequire as __baxRequire}from'node:module';const require=__baxRequire(import.meta.url);",
    },
  })
  const children = new Set<ChildProcess>()
  return {
    stateDir,
    start: async <Message>(args: readonly string[] = [], env: Record<string, string> = {}) => {
      const child = fork(script, args, { env: { ...process.env, ...env }, execArgv: [] })
      children.add(child)
      const message = await new Promise<Message>((resolve, reject) => {
        child.once('message', (sent) => resolve(sent as Message))
        child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
      })
      return { process: child, message }
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
