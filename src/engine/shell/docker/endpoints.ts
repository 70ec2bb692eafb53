/** Finds Docker endpoints: the usual sockets, and DOCKER_HOST. */
import type { DockerOptions } from 'dockerode'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ShellConfig } from '../../../core/config/shell-settings.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import { succeeds } from '../../../core/succeeds.ts'

const systemSocket = '/var/run/docker.sock'

/** Returns existing sockets, Docker's before Podman's; the system socket if there are none, so that errors name it. */
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
  const existing = await Promise.all(candidates.map(async (path) => ((await exists(path)) ? [`unix://${path}`] : [])))
  const found = existing.flat()
  return found.length > 0 ? found : [`unix://${systemSocket}`]
}

const exists = (path: string) => succeeds(access(path))

/**
 * Returns the client options for an endpoint of DOCKER_HOST. All are set explicitly, because the client would take
 * missing ones from the environment. @throws BaxError `invalid_request`.
 */
export async function addressOf(endpoint: string, config: ShellConfig): Promise<DockerOptions> {
  const unset = { host: undefined, port: undefined, socketPath: undefined } as unknown as DockerOptions
  const scheme = /^([a-z]+):\/\//.exec(endpoint)?.[1]
  if (scheme === 'unix' || scheme === 'npipe')
    return { ...unset, protocol: 'http', socketPath: endpoint.slice(scheme.length + 3) }
  const full = scheme ? endpoint : `tcp://${endpoint}`
  const url = parseUrl(full)
  if (!url || !['tcp:', 'http:', 'https:', 'ssh:'].includes(url.protocol))
    throw new BaxError('invalid_request', `DOCKER_HOST is not a Docker URL: ${endpoint}`, {
      hint: 'use unix:///path, tcp://host:port or ssh://user@host',
    })
  if (url.protocol === 'ssh:')
    return {
      ...unset,
      protocol: 'ssh',
      host: url.hostname,
      port: Number(url.port || 22),
      ...(url.username && { username: url.username }),
      ...(config.sshAgent && { sshOptions: { agent: config.sshAgent } }),
    }
  const tls = url.protocol === 'https:' || url.port === '2376' || config.dockerCertPath !== undefined
  return {
    ...unset,
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
