/** `bax shell write`: writes standard input, or the text of a flag, to a file. */
import { addTextFlag } from '../../../lines/flags.ts'
import { textFlag } from '../../../lines/typed.ts'
import { type Io, print, readStdinBytes } from '../../io.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell write <path>',
  summary: 'Write to a file of a shell session',
  operation: 'writeShellFile',
  without: ['content', 'encoding'],
  flags: (command) => void addTextFlag(command, '--content <text>', 'text to write instead of standard input'),
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, engine, options, ask }) => {
  const content = textFlag(typed.flags, 'content')
  const { append, ...rest } = input
  const write = async () => {
    if (content !== undefined) return ask({ content })
    if (!append) return engine.upload('uploadShellFile', rest, bytesOf(io), options)
    return ask({ content: (await readStdinBytes(io)).toString('base64'), encoding: 'base64' })
  }
  const written = await write()
  if (settings.json) print(io, JSON.stringify(written))
})

async function* bytesOf({ stdin }: Io): AsyncGenerator<Uint8Array> {
  for await (const chunk of stdin) yield Buffer.from(chunk)
}
