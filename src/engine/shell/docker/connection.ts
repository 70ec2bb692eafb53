/** The way to Docker: found once, and looked for again after it was lost. */
import type Dockerode from 'dockerode'
import { homedir } from 'node:os'
import type { ShellConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { addressOf, usualSockets } from './endpoints.ts'
import { sendStraight } from './straight-client.ts'

/** A Docker engine that has answered. */
export interface DockerConnection {
  readonly docker: Dockerode
  /** `unix:///var/run/docker.sock` */
  readonly endpoint: string
  readonly kind: 'docker' | 'podman'
  readonly version: string
  readonly apiVersion: string
  /** Architecture of its containers, as Node names it. */
  readonly architecture: 'x64' | 'arm64'
}

/** How long an engine may take to say who it is. */
const answerMs = 5000
/** Engine 20.10. */
const leastApi = 1.41

const architectures: Record<string, DockerConnection['architecture']> = {
  amd64: 'x64',
  x86_64: 'x64',
  arm64: 'arm64',
  aarch64: 'arm64',
}

/** @throws BaxError `docker_unavailable` that says where it looked and what to start. */
export async function connectDocker(config: ShellConfig = {}): Promise<DockerConnection> {
  const endpoints = config.dockerHost
    ? [config.dockerHost]
    : await usualSockets({ home: homedir(), runtimeDir: config.runtimeDir })
  const { default: Docker } = await import('dockerode')
  sendStraight()
  const attempts: { endpoint: string; error: unknown }[] = []
  for (const endpoint of endpoints) {
    try {
      return await ask(Docker, endpoint, config)
    } catch (error) {
      if (error instanceof BaxError) throw error
      attempts.push({ endpoint, error })
    }
  }
  throw unavailable(attempts, config.dockerHost !== undefined)
}

async function ask(Docker: typeof Dockerode, endpoint: string, config: ShellConfig): Promise<DockerConnection> {
  const docker = new Docker(await addressOf(endpoint, config))
  const facts = await inTime(docker.version(), answerMs)
  const podman = (facts.Components ?? []).some(({ Name }) => /podman/i.test(Name))
  const architecture = architectures[facts.Arch]
  if (facts.Os !== 'linux' || !architecture)
    throw new BaxError('docker_unavailable', `the Docker at ${endpoint} runs ${facts.Os}/${facts.Arch} containers`, {
      hint: 'shell sessions need Linux containers on x64 or arm64',
    })
  if (Number(facts.ApiVersion) < leastApi)
    throw new BaxError('docker_unavailable', `the Docker at ${endpoint} speaks API ${facts.ApiVersion}`, {
      hint: `shell sessions need API ${leastApi} (Docker 20.10) or newer`,
    })
  return {
    docker,
    endpoint,
    kind: podman ? 'podman' : 'docker',
    version: facts.Version,
    apiVersion: facts.ApiVersion,
    architecture,
  }
}

/** The value, or an error with the code ETIMEDOUT. */
export const inTime = <T>(work: Promise<T>, ms: number): Promise<T> =>
  withDeadline(work, { ms, error: () => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }) })

function unavailable(attempts: { endpoint: string; error: unknown }[], told: boolean): BaxError {
  const denied = attempts.find(({ error }) => codeOf(error) === 'EACCES')
  const details = { tried: attempts.map(({ endpoint, error }) => ({ endpoint, error: reasonOf(error) })) }
  const cause = attempts[0]?.error
  if (denied)
    return new BaxError('docker_unavailable', `this user may not use the Docker at ${denied.endpoint}`, {
      hint: 'add the user to the group docker (`sudo usermod -aG docker $USER`) and log in again',
      details,
      cause,
    })
  if (told) {
    const { endpoint, error } = attempts[0]!
    return new BaxError('docker_unavailable', `no Docker answers at ${endpoint} (${reasonOf(error)})`, {
      hint: 'that is what DOCKER_HOST says: start it there, or correct DOCKER_HOST',
      details,
      cause,
    })
  }
  return new BaxError('docker_unavailable', 'shell sessions need Docker, and none answers', {
    hint: start(),
    details,
    cause,
  })
}

/** What to start, for this system. */
function start(): string {
  if (process.platform !== 'linux') return 'start Docker Desktop (or Podman), or set DOCKER_HOST'
  return 'start it (`sudo systemctl start docker`, or `sudo dockerd`), install it (`sudo apt install docker.io`), or set DOCKER_HOST'
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

function reasonOf(error: unknown): string {
  const words: Record<string, string> = {
    ENOENT: 'no such socket',
    ECONNREFUSED: 'nobody listens',
    EACCES: 'permission denied',
    ETIMEDOUT: 'no answer',
    ENOTFOUND: 'no such host',
  }
  return words[codeOf(error) ?? ''] ?? (error instanceof Error ? error.message.trim() : String(error))
}
