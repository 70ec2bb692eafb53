/** `bax session upload`: uploads a file to a browser session. */
import { Argument } from 'commander'
import { print } from '../../io.ts'
import { bytesOf, localFile } from '../../session/local-file.ts'
import { operationCommand, type OperationShape } from '../operation-command.ts'

const shape = {
  operation: 'uploadSessionFile',
  words: 'session upload',
  without: ['name'],
  flags: (command) => {
    command.addArgument(new Argument('<file>', 'file to upload'))
    command.addArgument(new Argument('[name]', "name in the session; by default the file's own"))
  },
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, engine, options }) => {
  const [file, name] = typed.words as [string, string | undefined]
  const local = localFile(io.cwd, file)
  const where = { ...input, name: name ?? local.name }
  const stored = await engine.upload('uploadSessionFile', where, bytesOf(io, local), options)
  print(io, settings.json ? JSON.stringify(stored) : stored.name)
})
