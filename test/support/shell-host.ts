/** A separate process with an engine that runs a program in a container and has a warm one, for tests that kill it. */
import type { ChildProcess } from 'node:child_process'
import { ownSession, shellConfig } from './docker.ts'
import { makeHostProgram } from './host-process.ts'

export interface ShellHost {
  readonly process: ChildProcess
  /** State folder, for the next engine with the same ID. */
  readonly stateDir: string
  close(): Promise<void>
}

/** Resolves once the program runs and the warm container is ready. */
export async function startShellHost(image: string): Promise<ShellHost> {
  const program = await makeHostProgram(source)
  const { process } = await program.start([
    JSON.stringify({ image, sessionId: ownSession('sh_killed'), shell: { ...shellConfig, warm: 1 } }),
  ])
  return { process, stateDir: program.stateDir, close: program.close }
}

const source = `
import { createContainers } from './src/engine/shell/docker/containers.ts'
const { image, sessionId, shell } = JSON.parse(process.argv[2])
const containers = createContainers({ stateDir, home: 'local', log: () => {}, shell })
const limits = { memoryMb: 64, cpus: 1, pids: 32, workspaceMb: 8, outputMb: 8, tmpMb: 8, workspaceFiles: 1000, outputFiles: 1000, tmpFiles: 1000 }
const box = await containers.create({ sessionId, image, network: 'none', outputMounts: [], limits })
await box.exec({ argv: ['sleep', '777'], cwd: '/', env: {}, stdin: 'none' })
while ((await containers.status()).warm < 1) await new Promise((resolve) => setTimeout(resolve, 20))
process.send('ready')
`
