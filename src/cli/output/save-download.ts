/** Saves the file that a download operation returns. */
import { textFlag } from '../../lines/typed.ts'
import { posix } from 'node:path'
import type { Command } from 'commander'
import type { Download } from '../../client/client.ts'
import type { OperationCall } from '../operation-command.ts'
import { print } from '../io.ts'
import { isStdout, saveBytes, targetOf } from '../shell/save-files.ts'
import { writeThrough } from '../shell/write-through.ts'
import { withByteCount } from './progress.ts'

export const addOutput = (command: Command): void =>
  void command.option('-o, --output <file>', 'file to write to, or folder ending in /; - for standard output')

/** Writes the file at `path` to --output, by default under its own name to the current folder. */
export async function saveDownload(
  {
    io,
    settings,
    typed,
    shape,
    input,
    engine,
    options,
  }: OperationCall<'downloadSessionFile' | 'downloadShellFile' | 'replaySession'>,
  path: string,
): Promise<void> {
  const { bytes, headers } = await engine.download(shape.operation, input, options)
  const output = textFlag(typed.flags, 'output')
  if (isStdout(output)) {
    for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
    return
  }
  const name = posix.basename(path)
  const target = await targetOf(io.cwd, output, name)
  await saveBytes(target, withByteCount(io, name, bytes, sizeIn(headers)))
  print(io, settings.json ? JSON.stringify({ path: target }) : target)
}

/** Returns the Content-Length of a response, if it has one. */
function sizeIn(headers: Download['headers']): number | undefined {
  const length = headers instanceof Headers ? headers.get('content-length') : headers['content-length']
  return length ? Number(length) : undefined
}
