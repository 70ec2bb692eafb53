/** `bax shell download`: a file of a session onto this machine. */
import { posix } from 'node:path'
import { download, type Downloaded } from '../../../client/client.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { counted } from '../../output/progress.ts'
import { print } from '../../io.ts'
import { onShell } from '../../shell/on-shell.ts'
import { saveBytes, targetOf } from '../../shell/save-files.ts'
import { writeThrough } from '../../shell/write-through.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'downloadShellFile',
      words: 'shell download <path>',
      flags: (command) =>
        void command.option('-o, --output <file>', 'write here, - for standard output; a folder when it ends with /'),
      async work({ context: { io, settings }, typed, operation, input, transport }) {
        const { bytes, headers } = await download(transport, operation.http, input, { signal: io.signal, strict: true })
        const output = typed.flags['output'] as string | undefined
        if (output === '-') {
          for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
          return 0
        }
        const name = posix.basename(String(input['path'] ?? Buffer.from(String(input['path_b64']), 'base64')))
        const path = targetOf(io.cwd, output, name)
        await saveBytes(path, counted(io, name, bytes, sizeIn(headers)))
        print(io, settings.json ? JSON.stringify({ path }) : path)
        return 0
      },
    }),
}

/** What the answer says of its length; undefined where it says nothing. */
function sizeIn(headers: Downloaded['headers']): number | undefined {
  const length = headers instanceof Headers ? headers.get('content-length') : headers['content-length']
  return length ? Number(length) : undefined
}
