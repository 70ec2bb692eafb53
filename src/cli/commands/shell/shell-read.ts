/** `bax shell read`: prints the bytes of a file. */
import { uncheckedFields } from '../../../client/calls.ts'
import { print } from '../../io.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'
import { writeThrough } from '../../shell/write-through.ts'

const shape = {
  cli: 'shell read <path>',
  summary: 'Print a file of a shell session',
  operation: 'readShellFile',
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, input, engine, ask }) => {
  if (settings.json) return print(io, JSON.stringify(await ask()))
  const { session_id, path, path_b64, offset, length } = input
  if (offset !== undefined || length !== undefined) {
    const { content } = await ask({ encoding: 'base64' })
    return writeThrough(io.stdout, Buffer.from(content, 'base64'))
  }
  // Streamed with backpressure, because files may be large.
  const { bytes } = await engine.download('downloadShellFile', uncheckedFields({ session_id, path, path_b64 }), {
    signal: io.signal,
  })
  for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
})
