import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'

/** Writes a file that a command was told to write, with its folders. */
export function writeOutput(path: string, content: string | Uint8Array): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new BaxError(code === 'ENOSPC' ? 'no_space' : 'invalid_request', `cannot write ${path}: ${code}`, { cause })
  }
}
