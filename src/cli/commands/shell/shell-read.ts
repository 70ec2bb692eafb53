/** `bax shell read`: prints the bytes of a file. */
import { download } from '../../../client/client.ts'
import type { ReadOutput } from '../../../core/shapes/shell/files.ts'
import { print } from '../../io.ts'
import { operationCommand } from '../operation-command.ts'
import { writeThrough } from '../../shell/write-through.ts'

export const command = operationCommand('readShellFile', async ({ io, settings, input, transport, ask }) => {
  if (settings.json) return print(io, JSON.stringify(await ask()))
  const { session_id, path, path_b64, offset, length } = input
  if (offset !== undefined || length !== undefined) {
    const { content } = (await ask({ encoding: 'base64' })) as ReadOutput
    return writeThrough(io.stdout, Buffer.from(content, 'base64'))
  }
  // Streamed with backpressure, because files may be large.
  const { bytes } = await download(
    transport,
    'GET /shell/fs/raw',
    { session_id, path, path_b64 },
    { signal: io.signal },
  )
  for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
})
