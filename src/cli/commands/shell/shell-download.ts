/** `bax shell download`: downloads a file of a session. */
import { posix } from 'node:path'
import { download, type Download } from '../../../client/client.ts'
import { withByteCount } from '../../output/progress.ts'
import { print } from '../../io.ts'
import { operationCommand, type OperationShape } from '../operation-command.ts'
import { saveBytes, targetOf } from '../../shell/save-files.ts'
import { writeThrough } from '../../shell/write-through.ts'

const shape: OperationShape = {
  operation: 'downloadShellFile',
  words: 'shell download <path>',
  flags: (command) =>
    void command.option('-o, --output <file>', 'file to write to, or folder ending in /; - for standard output'),
}

export const command = operationCommand(
  shape,
  async ({ io, settings, typed, operation, input, transport, options }) => {
    const { bytes, headers } = await download(transport, operation.http, input, options)
    const output = typed.flags['output'] as string | undefined
    if (output === '-') {
      for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
      return
    }
    const name = posix.basename(String(input['path'] ?? Buffer.from(String(input['path_b64']), 'base64')))
    const path = targetOf(io.cwd, output, name)
    await saveBytes(path, withByteCount(io, name, bytes, sizeIn(headers)))
    print(io, settings.json ? JSON.stringify({ path }) : path)
  },
)

/** Returns the Content-Length of a response, if it has one. */
function sizeIn(headers: Download['headers']): number | undefined {
  const length = headers instanceof Headers ? headers.get('content-length') : headers['content-length']
  return length ? Number(length) : undefined
}
