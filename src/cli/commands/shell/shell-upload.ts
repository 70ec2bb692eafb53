/** `bax shell upload`: uploads a file to a session. */
import { requiredWord, textWord } from '../../../lines/typed.ts'
import { Argument } from 'commander'
import { print } from '../../io.ts'
import { localFile } from '../../../client/local-file.ts'
import { fileReader } from '../../output/progress.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell upload <file> [path]',
  summary: 'Upload a file to a shell session',
  operation: 'uploadShellFile',
  without: ['path'],
  flags: (command) => {
    command.addArgument(new Argument('<file>', 'file to upload'))
    command.addArgument(new Argument('[path]', 'path to upload to, or folder ending in /; by default /workspace'))
  },
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, engine, options }) => {
  const given = textWord(typed.words, 1)
  const local = localFile(io.cwd, requiredWord(typed.words, 0))
  const { name } = local
  const path = given === undefined ? name : given.endsWith('/') ? `${given}${name}` : given
  const where = input['path_b64'] === undefined ? { ...input, path } : input
  const written = await engine.upload('uploadShellFile', where, fileReader(io)(local), options)
  print(io, settings.json ? JSON.stringify(written) : written.path)
})
