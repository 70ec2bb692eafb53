/** The file with the secret that gateways and workers share. */
import { readFileSync, statSync } from 'node:fs'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason } from '../../core/errors/system-errors.ts'
import { limits } from '../../core/limits/limits.ts'

/** Reads the secret; warns if other users can read it. @throws BaxError `invalid_request` */
export function readSecretFile(path: string, log: Log): Buffer {
  const secret = contentOf(path)
  if (secret.length < limits.gateway.secretBytes) {
    throw new BaxError(
      'invalid_request',
      `the secret in ${path} has ${secret.length} bytes: at least ${limits.gateway.secretBytes} are needed`,
      { hint: `create one with "openssl rand -base64 48 > ${path}"` },
    )
  }
  const { mode } = statSync(path)
  if (process.platform !== 'win32' && mode & 0o077)
    log('warn', 'other users can read the secret file', { file: path, hint: `run "chmod 600 ${path}"` })
  return secret
}

/** Returns the content without the line break that editors and `echo` add. */
function contentOf(path: string): Buffer {
  try {
    return Buffer.from(readFileSync(path, 'latin1').trimEnd(), 'latin1')
  } catch (cause) {
    throw new BaxError('invalid_request', `cannot read --secret-file ${path}: ${systemReason(cause as Error)}`, {
      cause,
      hint: 'pass a file that holds the secret of the fleet',
    })
  }
}
