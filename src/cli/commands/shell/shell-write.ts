/** `bax shell write`: standard input, or the text of a flag, into a file. */
import { upload } from '../../../client/client.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { onShell } from '../../shell/on-shell.ts'
import type { WriteOutput } from '../../../core/shapes/shell/files.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'writeShellFile',
      without: ['content', 'encoding'],
      flags: (command) => void command.option('--content <text>', 'what to write; without it standard input is'),
      async work({ context: { io, settings }, typed, input, transport, ask }) {
        const content = typed.flags['content'] as string | undefined
        const { append, ...rest } = input
        const written = (
          content !== undefined
            ? await ask({ content })
            : append
              ? await ask({ content: (await allOf(io.stdin)).toString('base64'), encoding: 'base64' })
              : await upload(transport, 'PUT /shell/fs/raw', rest, bytesOf(io.stdin), {
                  signal: io.signal,
                  strict: true,
                })
        ) as WriteOutput
        if (settings.json) print(io, JSON.stringify(written))
        return 0
      },
    }),
}

async function* bytesOf(stdin: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stdin) yield Buffer.from(chunk as Uint8Array)
}

async function allOf(stdin: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytesOf(stdin)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
