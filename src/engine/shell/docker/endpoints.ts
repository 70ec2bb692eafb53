/** Addresses of Docker: the usual sockets, and what DOCKER_HOST may say. */
import type { DockerOptions } from 'dockerode'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShellConfig } from '../../../core/config/config.ts'
import { BaxError } from '../../../core/errors/errors.ts'

const systemSocket = '/var/run/docker.sock'

/** Sockets that are there, Docker's before Podman's; the system's own when there is none, so that it is named. */
export async function usualSockets(user: { home: string; runtimeDir?: string | undefined }): Promise<string[]> {
  if (process.platform === 'win32') return ['npipe:////./pipe/docker_engine']
  const { home, runtimeDir } = user
  const candidates = [
    systemSocket,
    ...(runtimeDir ? [join(runtimeDir, 'docker.sock')] : []),
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
    join(home, '.colima/default/docker.sock'),
    ...(runtimeDir ? [join(runtimeDir, 'podman/podman.sock')] : []),
    '/run/podman/podman.sock',
  ]
  const there = await Promise.all(candidates.map(async (path) => ((await exists(path)) ? [`unix://${path}`] : [])))
  const found = there.flat()
  return found.length > 0 ? found : [`unix://${systemSocket}`]
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/**
 * What the client needs for an address of DOCKER_HOST. Everything is said, for the client would fill in what is not
 * from the environment. @throws BaxError `invalid_request`.
 */
export async function addressOf(endpoint: string, config: ShellConfig): Promise<DockerOptions> {
  const none = { host: undefined, port: undefined, socketPath: undefined } as unknown as DockerOptions
  const scheme = /^([a-z]+):\/\//.exec(endpoint)?.[1]
  if (scheme === 'unix' || scheme === 'npipe')
    return { ...none, protocol: 'http', socketPath: endpoint.slice(scheme.length + 3) }
  const full = scheme ? endpoint : `tcp://${endpoint}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (!url || !['tcp:', 'http:', 'https:', 'ssh:'].includes(url.protocol))
    throw new BaxError('invalid_request', `DOCKER_HOST is no address of a Docker: ${endpoint}`, {
      hint: 'write unix:///path, tcp://host:port or ssh://user@host',
    })
  if (url.protocol === 'ssh:')
    return {
      ...none,
      protocol: 'ssh',
      host: url.hostname,
      port: Number(url.port || 22),
      ...(url.username && { username: url.username }),
      ...(config.sshAgent && { sshOptions: { agent: config.sshAgent } }),
    }
  const tls = url.protocol === 'https:' || url.port === '2376' || config.dockerCertPath !== undefined
  return {
    ...none,
    protocol: tls ? 'https' : 'http',
    host: url.hostname,
    port: Number(url.port || (tls ? 2376 : 2375)),
    ...(config.dockerCertPath !== undefined && (await certificates(config.dockerCertPath))),
  }
}

async function certificates(folder: string): Promise<Pick<DockerOptions, 'ca' | 'cert' | 'key'>> {
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readFile(join(folder, name), 'utf8')),
  )
  return { ca, cert, key } as Pick<DockerOptions, 'ca' | 'cert' | 'key'>
}
