/** Settings of shell sessions: variables such as `DOCKER_HOST`, and `shell` in the user's settings file. */
import { BaxError } from '../errors/errors.ts'
import { isImageReference } from './image-reference.ts'
import type { Environment } from './setting.ts'

export interface ShellConfig {
  /** Address as in DOCKER_HOST; undefined tries the default sockets. */
  readonly dockerHost?: string
  /** Folder with `ca.pem`, `cert.pem`, `key.pem` for a `tcp://` address (DOCKER_CERT_PATH). */
  readonly dockerCertPath?: string
  /** The user's folder for sockets (XDG_RUNTIME_DIR), used by rootless Docker and Podman. */
  readonly runtimeDir?: string
  /** Socket of the user's ssh agent (SSH_AUTH_SOCK), for an `ssh://` address. */
  readonly sshAgent?: string
  /** Images that sessions may use; undefined allows every local one. */
  readonly images?: readonly string[]
  /** Containers of a previously requested kind to keep running for the next session. */
  readonly warm?: number
}

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  docker_host: (value) => typeof value === 'string',
  images: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string' && isImageReference(name)),
  warm: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 20,
}

/** Names in a settings file. */
export const shellFields = Object.keys(kinds)

/** Reads the settings. @throws BaxError `invalid_request` for an unknown setting or an invalid value */
export function readShell(env: Environment, file: object | undefined): ShellConfig | undefined {
  const given = (file ?? {}) as { docker_host?: string; images?: string[]; warm?: number }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, name) || !kinds[name]?.(value)) {
      throw new BaxError('invalid_request', `shell.${name} in the settings file is invalid`, {
        hint: 'use docker_host (text), images (a list of image references) and warm (0 to 20)',
      })
    }
  }
  const dockerHost = env['DOCKER_HOST'] || given.docker_host
  const config: ShellConfig = {
    ...(dockerHost && { dockerHost }),
    ...(env['DOCKER_CERT_PATH'] && { dockerCertPath: env['DOCKER_CERT_PATH'] }),
    ...(env['XDG_RUNTIME_DIR'] && { runtimeDir: env['XDG_RUNTIME_DIR'] }),
    ...(env['SSH_AUTH_SOCK'] && { sshAgent: env['SSH_AUTH_SOCK'] }),
    ...(given.images && { images: given.images }),
    ...(given.warm !== undefined && { warm: given.warm }),
  }
  return Object.keys(config).length > 0 ? config : undefined
}
