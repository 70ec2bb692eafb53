/** Files that commands write. */
import { systemReason } from '../../core/errors/system-errors.ts'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'

/** Builds the error of a file that could not be written. */
export function cannotWrite(path: string, cause: unknown): BaxError {
  const { code } = cause as NodeJS.ErrnoException
  return new BaxError(
    code === 'ENOSPC' ? 'no_space' : 'invalid_request',
    `cannot write ${path}: ${systemReason(cause as Error)}`,
    { cause },
  )
}

/** Writes an output file of a command, and by default creates the folders above it. */
export function writeOutput(path: string, content: string | Uint8Array, createsFolders = true): void {
  try {
    if (createsFolders) mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

/** Returns a free path such as `screenshot-20261121-053320.png`, with a number if that file exists. */
export function freeScreenshotPath(folder: string, now: Date, extension: string): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  for (let count = 1; ; count += 1) {
    const path = resolve(folder, `screenshot-${stamp}${count > 1 ? `-${count}` : ''}.${extension}`)
    if (!existsSync(path)) return path
  }
}
