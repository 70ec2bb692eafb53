/** Connects to Docker. */
import type Dockerode from 'dockerode'
import http from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import type { ShellConfig } from '../../../core/config/shell-settings.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { addressOf, usualSockets } from './endpoints.ts'

/** Docker engine that has responded. */
export interface DockerConnection {
  readonly docker: Dockerode
  /** `unix:///var/run/docker.sock` */
  readonly endpoint: string
  readonly kind: 'docker' | 'podman'
  /** Architecture of its containers, in terms of Node. */
  readonly architecture: 'x64' | 'arm64'
}

/** Timeout for the version request, in milliseconds. */
const answerMs = 5000
/** API version of Docker 20.10. */
const leastApi = 1.41

const architectures: Record<string, DockerConnection['architecture']> = {
  amd64: 'x64',
  x86_64: 'x64',
  arm64: 'arm64',
  aarch64: 'arm64',
}

/** @throws BaxError `docker_unavailable` with the endpoints that were tried and what to start. */
export async function connectDocker(config: ShellConfig = {}): Promise<DockerConnection> {
  const endpoints = config.dockerHost
    ? [config.dockerHost]
    : await usualSockets({ home: homedir(), runtimeDir: config.runtimeDir })
  const { default: Docker } = await import('dockerode')
  disableRedirects()
  const attempts: { endpoint: string; error: unknown }[] = []
  for (const endpoint of endpoints) {
    try {
      return await connect(Docker, endpoint, config)
    } catch (error) {
      if (error instanceof BaxError) throw error
      attempts.push({ endpoint, error })
    }
  }
  throw unavailable(attempts, config.dockerHost !== undefined)
}

async function connect(Docker: typeof Dockerode, endpoint: string, config: ShellConfig): Promise<DockerConnection> {
  const docker = new Docker(await addressOf(endpoint, config))
  const info = await withTimeout(docker.version(), answerMs)
  const podman = (info.Components ?? []).some(({ Name }) => /podman/i.test(Name))
  const architecture = architectures[info.Arch]
  if (info.Os !== 'linux' || !architecture)
    throw new BaxError('docker_unavailable', `Docker at ${endpoint} runs ${info.Os}/${info.Arch} containers`, {
      hint: 'shell sessions need Linux containers on x64 or arm64',
      unavailable: true,
    })
  if (Number(info.ApiVersion) < leastApi)
    throw new BaxError('docker_unavailable', `Docker at ${endpoint} has API version ${info.ApiVersion}`, {
      hint: `shell sessions need API ${leastApi} (Docker 20.10) or newer`,
      unavailable: true,
    })
  return { docker, endpoint, kind: podman ? 'podman' : 'docker', architecture }
}

/** Returns the value of a promise, or rejects with the code ETIMEDOUT after `ms`. */
export const withTimeout = <T>(work: Promise<T>, ms: number): Promise<T> =>
  withDeadline(work, { ms, error: () => Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }) })

function unavailable(attempts: { endpoint: string; error: unknown }[], configured: boolean): BaxError {
  const noPermission = attempts.find(({ error }) => codeOf(error) === 'EACCES')
  const details = { tried: attempts.map(({ endpoint, error }) => ({ endpoint, error: reasonOf(error) })) }
  const cause = attempts[0]?.error
  let message = 'shell sessions need Docker, which is not running'
  let hint =
    process.platform === 'linux'
      ? 'start it (`sudo systemctl start docker`, or `sudo dockerd`), install it (`sudo apt install docker.io`), or set DOCKER_HOST'
      : 'start Docker Desktop (or Podman), or set DOCKER_HOST'
  if (noPermission) {
    message = `no permission to use Docker at ${noPermission.endpoint}`
    hint = 'add the user to the group docker (`sudo usermod -aG docker $USER`) and log in again'
  } else if (configured) {
    message = `cannot reach Docker at ${attempts[0]!.endpoint} (${reasonOf(cause)})`
    hint = 'start Docker there, or correct DOCKER_HOST'
  }
  return new BaxError('docker_unavailable', message, { hint, details, cause, unavailable: true })
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

function reasonOf(error: unknown): string {
  const reasons: Record<string, string> = {
    ENOENT: 'no such socket',
    ECONNREFUSED: 'connection refused',
    EACCES: 'permission denied',
    ETIMEDOUT: 'no answer',
    ENOTFOUND: 'no such host',
  }
  return reasons[codeOf(error) ?? ''] ?? (error instanceof Error ? error.message.trim() : String(error))
}

type Client = Pick<typeof http, 'request'>

/**
 * Disables redirects of the Docker client, which follows them without an error handler for the new request: replaces
 * the HTTP clients in the copy of docker-modem that dockerode uses, which it looks up for every request.
 */
function disableRedirects(): void {
  const load = createRequire(import.meta.url)
  const clients = createRequire(load.resolve('dockerode'))('docker-modem/lib/http') as Record<'http' | 'https', Client>
  clients.http = withoutRedirects(http)
  clients.https = withoutRedirects(https)
}

const withoutRedirects = (client: typeof http | typeof https): Client => ({
  request: (...args: unknown[]) => {
    const request = client.request(...(args as Parameters<typeof http.request>))
    // docker-modem only waits for the end of a response; without this, an aborted one would never finish.
    request.on('response', (response) => response.on('error', (error) => request.emit('error', error)))
    return request
  },
})
