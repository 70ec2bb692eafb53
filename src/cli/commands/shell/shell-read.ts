/** `bax shell read`: the bytes of a file, as they are. */
import { download } from '../../../client/client.ts'
import type { ReadOutput } from '../../../core/shapes/shell/files.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { onShell } from '../../shell/on-shell.ts'
import { ReaderGone, writeThrough } from '../../shell/write-through.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'readShellFile',
      async work({ context: { io, settings }, input, transport, ask }) {
        if (settings.json) {
          print(io, JSON.stringify(await ask()))
          return 0
        }
        const { session_id, path, path_b64, offset, length } = input
        if (offset !== undefined || length !== undefined) {
          const { content } = (await ask({ encoding: 'base64' })) as ReadOutput
          await writeThrough(io.stdout, Buffer.from(content, 'base64'))
          return 0
        }
        // Of any size, and at the pace of whoever reads it.
        const { bytes } = await download(
          transport,
          'GET /shell/fs/raw',
          { session_id, path, path_b64 },
          { signal: io.signal },
        )
        try {
          for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
        } catch (error) {
          if (!(error instanceof ReaderGone)) throw error
        }
        return 0
      },
    }),
}
