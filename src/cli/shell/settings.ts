/** Settings of shell sessions: variables such as `DOCKER_HOST`, and `shell` in the user's settings file. */
import type { ShellConfig } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { isImageReference } from '../../core/config/image-reference.ts'
import type { Io } from '../io.ts'

const kinds: Record<string, (value: unknown) => boolean> = {
  docker_host: (value) => typeof value === 'string',
  images: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string' && isImageReference(name)),
  warm: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 20,
}

/** Reads the settings. @throws BaxError `invalid_request` for an unknown setting or an invalid value */
export function readShell(env: Io['env'], file: object | undefined): ShellConfig | undefined {
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
