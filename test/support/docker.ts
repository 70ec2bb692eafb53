/** Containers on the Docker of this machine, for tests of shell sessions. */
import Docker from 'dockerode'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineConfig } from '../../src/core/config/config.ts'
import type { ContainerSpec } from '../../src/engine/shell/container.ts'
import type { ShellContainer, ShellContainers } from '../../src/engine/shell/interface.ts'
import type { ExecExit, ExecSpec } from '../../src/engine/shell/container-exec.ts'
import { connectDocker } from '../../src/engine/shell/docker/connection.ts'
import { createContainers } from '../../src/engine/shell/docker/containers.ts'
import { addressOf, usualSockets } from '../../src/engine/shell/docker/endpoints.ts'
import { bytesOf } from './bytes.ts'

export { bytesOf } from './bytes.ts'

const runtimeDir = process.env['XDG_RUNTIME_DIR']

/** Docker settings as the CLI reads them from the environment. */
export const shellConfig = {
  ...(process.env['DOCKER_HOST'] && { dockerHost: process.env['DOCKER_HOST'] }),
  ...(runtimeDir && { runtimeDir }),
}

/** A Docker for tests. */
interface TestDocker {
  readonly name: 'docker' | 'podman'
  readonly shell: NonNullable<EngineConfig['shell']>
  /** Names of its images. */
  readonly images: readonly string[]
}

const found = await connectDocker(shellConfig).catch((error: Error) => error)
const docker: TestDocker | Error =
  found instanceof Error
    ? found
    : {
        name: found.kind,
        shell: { dockerHost: found.endpoint },
        images: (await found.docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? []),
      }

/** Test images, each with the reason why it is unavailable. */
export const testImages = (['bax-shell:busybox', 'bax-shell:default'] as const).map((image) => ({
  image,
  absent:
    docker instanceof Error
      ? `no Docker: ${docker.message}`
      : docker.images.includes(image)
        ? null
        : `there is no image ${image}; npm run setup makes it`,
}))

/** Returns `on bax-shell:busybox`, or why it is skipped. */
export const nameOf = ({ image, absent }: (typeof testImages)[number]): string =>
  absent === null ? `on ${image}` : `on ${image}: skipped, ${absent}`

/** Endpoint of Podman's own socket, or why its tests are skipped. */
export const podman = await findPodman()

async function findPodman(): Promise<{ endpoint: string } | { absent: string }> {
  const sockets = await usualSockets({ home: homedir(), runtimeDir })
  const endpoint = sockets.find((socket) => socket.includes('podman'))
  return endpoint ? { endpoint } : { absent: 'skipped, Podman is not installed or has no socket here' }
}

/** Returns a client that bypasses the engine, like other programs on this machine. */
export async function otherClient(): Promise<Docker> {
  if (docker instanceof Error) throw docker
  return new Docker(await addressOf(docker.shell.dockerHost!, {}))
}

export interface OpenContainers {
  readonly containers: ShellContainers
  readonly stateDir: string
  /** Log of the engine. */
  readonly log: readonly string[]
  close(): Promise<void>
}

/** Opens containers with their own engine. */
export async function openContainers(config: Partial<EngineConfig> = {}): Promise<OpenContainers> {
  if (docker instanceof Error) throw docker
  const stateDir = config.stateDir ?? (await mkdtemp(join(tmpdir(), 'bax-shell-')))
  const log: string[] = []
  const containers = createContainers({
    home: 'embedded',
    log: (level, message, facts) => void log.push(`${level} ${message} ${JSON.stringify(facts)}`),
    shell: docker.shell,
    ...config,
    stateDir,
  })
  return {
    containers,
    stateDir,
    log,
    async close() {
      await containers.close()
      if (config.stateDir === undefined) await rm(stateDir, { recursive: true, force: true })
    },
  }
}

const ofThisProcess = randomBytes(4).toString('hex')

/** Returns a session ID of this process only: others may run the same tests on the same Docker. */
export const ownSession = (name: string): string => `${name}_${ofThisProcess}`

/** Returns the spec of a small container. */
export const smallContainer = (image: string, changes: Partial<ContainerSpec> = {}): ContainerSpec => ({
  sessionId: ownSession('sh_test'),
  image,
  network: 'none',
  outputMounts: ['/output'],
  limits: {
    memoryMb: 128,
    cpus: 1,
    pids: 64,
    workspaceMb: 64,
    outputMb: 32,
    tmpMb: 16,
    workspaceFiles: 20_000,
    outputFiles: 5000,
    tmpFiles: 5000,
  },
  ...changes,
})

export interface ShellOutput extends ExecExit {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a shell command to its end. */
export async function sh(box: ShellContainer, command: string, more: Partial<ExecSpec> = {}): Promise<ShellOutput> {
  const exec = await box.exec({ argv: ['sh', '-c', command], cwd: '/workspace', env: {}, stdin: 'none', ...more })
  const [stdout, stderr, exit] = await Promise.all([bytesOf(exec.stdout), bytesOf(exec.stderr), exec.exit])
  return { ...exit, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** Returns the programs in a container, without the agent and this command itself. */
export async function programsIn(box: ShellContainer): Promise<string[]> {
  const { stdout } = await sh(box, 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline 2>/dev/null; echo; done; true')
  return stdout.split('\n').filter((line) => line.trim() && !/^\/\.bax\/agent|^sh -c for p in|^tr |^cat /.test(line))
}
