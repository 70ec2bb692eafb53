/** Scripts that can be read only once: from standard input, `-`, and from pipes, as in `bax run <(generate)`. */
import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Io } from '../io.ts'

const stdinName = '-'

/** Returns whether a script of the command line is read from a stream. */
export const isStream = (file: string, cwd: string): boolean =>
  file === stdinName || (statSync(resolve(cwd, file), { throwIfNoEntry: false })?.isFIFO() ?? false)

/**
 * Reads the scripts that come from streams; returns their texts by absolute path.
 * @throws BaxError `invalid_request` if one is too large, or an option needs a file
 */
export async function readStreams(
  files: readonly string[],
  { watch, update }: { readonly watch?: boolean; readonly update?: boolean },
  io: Pick<Io, 'stdin' | 'cwd' | 'signal'>,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const file of files.filter((name) => isStream(name, io.cwd))) {
    const shown = file === stdinName ? 'standard input' : `the pipe ${file}`
    const flag = watch ? '--watch' : update ? '--update' : undefined
    if (flag) {
      throw new BaxError('invalid_request', `${flag} cannot be used with a script from ${shown}`, {
        hint: 'write the script to a file first',
      })
    }
    const path = resolve(io.cwd, file)
    texts.set(path, await readAll(file === stdinName ? io.stdin : createReadStream(path, { signal: io.signal }), shown))
  }
  return texts
}

async function readAll(stream: AsyncIterable<string | Uint8Array>, shown: string): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > limits.scriptBytes)
      throw new BaxError(
        'invalid_request',
        `the script from ${shown} is larger than ${limits.scriptBytes / 1024 ** 2} MiB`,
      )
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}
