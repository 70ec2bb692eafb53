/** `bax shell upload`: uploads a file to a session. */
import { Argument } from 'commander'
import { upload } from '../../../client/client.ts'
import type { WriteOutput } from '../../../core/shapes/shell/files.ts'
import { print } from '../../io.ts'
import { bytesOf, localFile } from '../../session/local-file.ts'
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
    const local = localFile(io.cwd, file)
    const { name } = local
    const path = given === undefined ? name : given.endsWith('/') ? `${given}${name}` : given
    const where = input['path_b64'] === undefined ? { ...input, path } : input
    const written = (await upload(transport, operation.http, where, bytesOf(io, local), options)) as WriteOutput
    print(io, settings.json ? JSON.stringify(written) : written.path)
  },
)
