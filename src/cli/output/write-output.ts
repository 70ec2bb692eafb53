/** Files that commands write. */
import { systemReason, systemSentence } from '../../core/errors/system-errors.ts'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'

/** Codes of failures that another path does not avoid. */
const notPath: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EIO: 'internal_error',
}

/** Builds the error of a file that could not be written. */
export function cannotWrite(path: string, cause: unknown): BaxError {
  const { code } = cause as NodeJS.ErrnoException
  const hint = systemSentence(cause)?.hint
  const reason = code === 'EEXIST' ? 'a part of the path is a file' : systemReason(cause as Error)
  return new BaxError(notPath[code ?? ''] ?? 'invalid_request', `cannot write ${path}: ${reason}`, {
    ...(hint && { hint }),
    cause,
  })
}

/** Writes an output file of a command, and creates missing folders. */
export function writeOutput(path: string, content: string | Uint8Array): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

/** Returns a free path such as `screenshot-20261121-053320.png`, with a number if that file exists. */
export function freePath(folder: string, now: Date, extension: string): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const stem = extension === 'pdf' ? 'page' : 'screenshot'
  for (let count = 1; ; count += 1) {
    const path = resolve(folder, `${stem}-${stamp}${count > 1 ? `-${count}` : ''}.${extension}`)
    if (!existsSync(path)) return path
  }
}
