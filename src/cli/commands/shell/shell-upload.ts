/** `bax shell upload`: uploads a file to a session. */
import { systemReason } from '../../../core/errors/system-errors.ts'
import { createReadStream, type Stats, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Argument } from 'commander'
import { upload } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { WriteOutput } from '../../../core/shapes/shell/files.ts'
import { print } from '../../io.ts'
import { withByteCount } from '../../output/progress.ts'
import { operationCommand, type OperationShape } from '../operation-command.ts'

const shape: OperationShape = {
  operation: 'uploadShellFile',
  words: 'shell upload',
  without: ['path'],
  flags: (command) => {
    command.addArgument(new Argument('<file>', 'file to upload'))
    command.addArgument(new Argument('[path]', 'path to upload to, or folder ending in /; by default /workspace'))
  },
}

export const command = operationCommand(
  shape,
  async ({ io, settings, typed, operation, input, transport, options }) => {
    const [file, given] = typed.words as [string, string | undefined]
    const source = resolve(io.cwd, file)
    const size = sizeOf(source)
    const name = basename(source)
    const path = given === undefined ? name : given.endsWith('/') ? `${given}${name}` : given
    const where = input['path_b64'] === undefined ? { ...input, path } : input
    const bytes = withByteCount(io, name, createReadStream(source) as AsyncIterable<Uint8Array>, size)
    const written = (await upload(transport, operation.http, where, bytes, options)) as WriteOutput
    print(io, settings.json ? JSON.stringify(written) : written.path)
  },
)

/** Returns the size of a file in bytes. @throws BaxError `invalid_request` if it is not a readable file */
function sizeOf(path: string): number {
  let stats: Stats
  try {
    stats = statSync(path)
  } catch (cause) {
    throw new BaxError('invalid_request', `cannot read ${path}: ${systemReason(cause as Error)}`, { cause })
  }
  if (stats.isFile()) return stats.size
  throw new BaxError('invalid_request', `${path} is not a file`)
}
