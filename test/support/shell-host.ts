/** A process of its own whose engine has one container with a running program, and a warm one: for tests that kill it. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import { shellConfig } from './docker.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ShellHost {
  readonly process: ChildProcess
  /** The folder that a next engine of the same id uses. */
  readonly stateDir: string
  close(): Promise<void>
}

/** Resolves when the program runs and the warm container waits. */
export async function startShellHost(image: string): Promise<ShellHost> {
  // Below node_modules, where the bundle finds the packages that are not part of it.
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'bax-shell-host-'))
  const script = join(folder, 'host.mjs')
  const stateDir = join(folder, 'state')
  await esbuild.build({
    stdin: { contents: source(stateDir, image), resolveDir: root, loader: 'ts' },
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['dockerode'],
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  })
  const child = fork(script, { execArgv: [] })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
  })
  return {
    process: child,
    stateDir,
    async close() {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const source = (stateDir: string, image: string) => `
import { createContainers } from './src/engine/shell/docker/containers.ts'
const shell = { ...${JSON.stringify(shellConfig)}, warm: 1 }
const containers = createContainers({ stateDir: ${JSON.stringify(stateDir)}, home: 'local', log: () => {}, shell })
const limits = { memoryMb: 64, cpus: 1, pids: 32, workspaceMb: 8, outputMb: 8, tmpMb: 8 }
const box = await containers.create({ sessionId: 'sh_killed', image: ${JSON.stringify(image)}, network: 'none', outputMounts: [], limits })
await box.exec({ argv: ['sleep', '777'], cwd: '/', env: {}, stdin: 'none' })
while ((await containers.status()).warm < 1) await new Promise((resolve) => setTimeout(resolve, 20))
process.send('ready')
`
