/** `bax session upload`: uploads a file to a browser session. */
import { requiredWord, textWord } from '../../../lines/typed.ts'
import { Argument } from 'commander'
import { print } from '../../io.ts'
import { localFile } from '../../../client/local-file.ts'
import { fileReader } from '../../output/progress.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session upload <file> [name]',
  summary: 'Upload a file to a session',
  operation: 'uploadSessionFile',
  without: ['name'],
  flags: (command) => {
    command.addArgument(new Argument('<file>', 'file to upload'))
    command.addArgument(new Argument('[name]', "name in the session; by default the file's own"))
  },
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, engine, options }) => {
  const name = textWord(typed.words, 1)
  const local = localFile(io.cwd, requiredWord(typed.words, 0))
  const where = { ...input, name: name ?? local.name }
  const stored = await engine.upload('uploadSessionFile', where, fileReader(io)(local), options)
  print(io, settings.json ? JSON.stringify(stored) : stored.name)
})
