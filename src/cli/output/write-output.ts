/** Files that commands write. */
import { systemReason, systemSentence, systemCode } from '../../core/errors/system-errors.ts'
import { accessSync, chmodSync, constants, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import type { Io } from '../io.ts'
import { temporaryPath } from '../../core/state/files.ts'
import { makeFolders } from '../../core/state/folders.ts'

/** Codes of failures that another path does not avoid. */
const notPath: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EIO: 'internal_error',
}

/** Hint of a file whose name was not typed. */
export const elsewhere = 'name a file in another folder with --output'

/** Builds the error of a file that could not be written. `advice` is the hint unless the system's error has one. */
export function cannotWrite(path: string, cause: unknown, advice?: string): BaxError {
  const code = systemCode(cause)
  const hint = systemSentence(cause)?.hint ?? advice
  const reason = code === 'EEXIST' ? 'a part of the path is no folder' : systemReason(cause)
  return new BaxError(notPath[code ?? ''] ?? 'invalid_request', `cannot write ${path}: ${reason}`, {
    ...(hint && { hint }),
    cause,
  })
}

/** Creates a folder for output files, with its parents. @throws BaxError that names it */
export function makeOutputFolder(path: string): void {
  try {
    makeFolders(path)
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

/** Writes an output file of a command, and creates missing folders. A failure leaves what was there before. */
export function writeOutput(path: string, content: string | Uint8Array, advice?: string): void {
  try {
    makeFolders(dirname(path))
    write(path, content)
  } catch (cause) {
    throw cannotWrite(path, cause, advice)
  }
}

function write(path: string, content: string | Uint8Array): void {
  const before = lstatSync(path, { throwIfNoEntry: false })
  // Devices, pipes and links stay what they are, and files of others stay theirs.
  const isPlain = before?.isFile() && before.nlink === 1 && before.uid === (process.getuid?.() ?? before.uid)
  if (before && (!isPlain || !mayWriteIn(dirname(path)))) return writeFileSync(path, content)
  const target = before ? temporaryPath(path) : path
  try {
    writeFileSync(target, content)
    if (!before) return
    chmodSync(target, before.mode)
    renameSync(target, path)
  } catch (error) {
    discard(target)
    throw error
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It could not be created: the first error says why.
  }
}

function mayWriteIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Writes a new file such as `screenshot-20261121-053320.png`, with a number if that file exists, even if another process
 * creates it at the same time; returns its path.
 */
export function writeNew(folder: string, { now, extension }: { now: Date; extension: string }, bytes: Uint8Array) {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const stem = extension === 'pdf' ? 'page' : 'screenshot'
  for (let count = 1; ; count += 1) {
    const path = resolve(folder, `${stem}-${stamp}${count > 1 ? `-${count}` : ''}.${extension}`)
    try {
      writeFileSync(path, bytes, { flag: 'wx' })
      return path
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST') throw cannotWrite(path, cause, elsewhere)
    }
  }
}

/** Writes a screenshot to `file`, or to a new file in the working folder; returns the path relative to that folder. */
export function writeScreenshot({ cwd }: Pick<Io, 'cwd'>, base64: string, file?: string): string {
  const bytes = Buffer.from(base64, 'base64')
  if (file === undefined) return relative(cwd, writeNew(cwd, { now: new Date(), extension: 'png' }, bytes))
  const path = resolve(cwd, file)
  writeOutput(path, bytes)
  return relative(cwd, path)
}
