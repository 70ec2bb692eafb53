/** `bax session upload`: uploads a file to a browser session. */
import { Argument } from 'commander'
import { upload } from '../../../client/client.ts'
import type { SessionFile } from '../../../core/shapes/session-files.ts'
import { print } from '../../io.ts'
import { bytesOf, localFile } from '../../session/local-file.ts'
import { operationCommand, type OperationShape } from '../operation-command.ts'

const shape: OperationShape = {
  operation: 'uploadSessionFile',
  words: 'session upload',
  without: ['name'],
  flags: (command) => {
    command.addArgument(new Argument('<file>', 'file to upload'))
    command.addArgument(new Argument('[name]', "name in the session; by default the file's own"))
  },
}

export const command = operationCommand(
  shape,
  async ({ io, settings, typed, operation, input, transport, options }) => {
    const [file, name] = typed.words as [string, string | undefined]
    const local = localFile(io.cwd, file)
    const where = { ...input, name: name ?? local.name }
    const stored = (await upload(transport, operation.http, where, bytesOf(io, local), options)) as SessionFile
    print(io, settings.json ? JSON.stringify(stored) : stored.name)
  },
)
