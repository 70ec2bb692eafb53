/** `bax shell upload`: a file of this machine into a session. */
import { createReadStream, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Argument } from 'commander'
import { upload } from '../../../client/client.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import type { WriteOutput } from '../../../core/shapes/shell/files.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { counted } from '../../output/progress.ts'
import { onShell } from '../../shell/on-shell.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'uploadShellFile',
      words: 'shell upload',
      without: ['path'],
      flags: (command) => {
        command.addArgument(new Argument('<file>', 'file of this machine'))
        command.addArgument(
          new Argument('[path]', 'where to put it; a folder when it ends with /, /workspace when not given'),
        )
      },
      async work({ context: { io, settings }, typed, operation, input, transport }) {
        const [file, given] = typed.words as [string, string | undefined]
        const source = resolve(io.cwd, file)
        const size = sizeOf(source)
        const name = basename(source)
        const path = given === undefined ? name : given.endsWith('/') ? `${given}${name}` : given
        const where = input['path_b64'] === undefined ? { ...input, path } : input
        const bytes = counted(io, name, createReadStream(source) as AsyncIterable<Uint8Array>, size)
        const written = (await upload(transport, operation.http, where, bytes, {
          signal: io.signal,
          strict: true,
        })) as WriteOutput
        print(io, settings.json ? JSON.stringify(written) : written.path)
        return 0
      },
    }),
}

/** Size of a file in bytes. @throws BaxError `invalid_request` when it is none, or cannot be read */
function sizeOf(path: string): number {
  const facts = (() => {
    try {
      return statSync(path)
    } catch (error) {
      throw new BaxError('invalid_request', `cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, {
        cause: error,
      })
    }
  })()
  if (facts.isFile()) return facts.size
  throw new BaxError('invalid_request', `${path} is not a file`)
}
