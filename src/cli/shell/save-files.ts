/** Saves files of shell sessions on this machine atomically. */
import { isSystemError } from '../../core/errors/system-errors.ts'
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Calls } from '../../client/calls.ts'
import { BaxError, type ErrorCode } from '../../core/errors/errors.ts'
import { temporaryPath } from '../../core/state/files.ts'
import { makeFolders } from '../../core/state/folders.ts'
import { isInside } from '../../core/state/outside-files.ts'
import { type Io, note } from '../io.ts'
import { cannotWrite } from '../output/write-output.ts'
import type { Artifact, ArtifactFile } from '../../core/shapes/shell/artifacts.ts'

/** Error of a file that cannot be written on this machine. */
class NotSaved extends BaxError {}

const notSaved = (path: string, cause: unknown): NotSaved => {
  const { code, message, hint } = cannotWrite(path, cause)
  return new NotSaved(code, message, { ...(hint && { hint }), cause })
}

/** Writes a temporary file, and renames it when it is complete. Devices and pipes are written directly. */
export async function saveBytes(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  // Links such as /dev/stdout can lead to a file, but must not be replaced. /dev/shm is a folder like others.
  const isDevice = /^\/(?:dev\/(?!shm\/)|proc\/)/.test(path)
  const isReplaced = !isDevice && (!existing || existing.isFile() || existing.isDirectory())
  const written = isReplaced ? temporaryPath(path) : path
  try {
    makeFolders(dirname(path))
  } catch (error) {
    throw notSaved(path, error)
  }
  try {
    await pipeline(bytes, createWriteStream(written, { flags: isReplaced ? 'wx' : 'w' }))
    if (isReplaced) await rename(written, path)
  } catch (error) {
    if (isReplaced) await rm(written, { force: true })
    if (error instanceof BaxError || !isSystemError(error)) throw error
    throw notSaved(path, error)
  }
}

/** Returns the path of a file in a folder. @throws NotSaved if a name from a container, or a link, leads outside */
async function pathIn(folder: string, name: string): Promise<string> {
  const path = resolve(folder, name)
  const isIn = await isInside(folder, path).catch((error: unknown) => Promise.reject(notSaved(path, error)))
  if (path !== resolve(folder) && isIn) return path
  throw new NotSaved('invalid_request', `${JSON.stringify(name)} is outside ${folder}`)
}

/** Lists all artifacts of a session, oldest first. */
export async function artifactsOf({ ask }: Calls, sessionId: string, signal: AbortSignal): Promise<Artifact[]> {
  const all: Artifact[] = []
  let cursor: string | undefined
  do {
    const page = await ask('listArtifacts', { session_id: sessionId, cursor }, { signal })
    all.push(...page.artifacts)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/** Returns the name of a file on this machine; bytes of names that are not UTF-8 are percent-encoded. */
export function localName({ name, name_b64: bytes }: Pick<ArtifactFile, 'name' | 'name_b64'>): string {
  if (bytes === undefined) return name
  const latin1 = Buffer.from(bytes, 'base64').toString('latin1')
  return latin1.replaceAll(/[\u0080-\u00ff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}

export interface Saved {
  readonly paths: readonly string[]
  /** Files that could not be written; the others are saved. */
  readonly failed: readonly { readonly name: string; readonly error: string; readonly code: ErrorCode }[]
}

/** Saves the files of artifacts; of files with the same name, the last one. */
export async function saveArtifacts(
  { download }: Calls,
  artifacts: readonly Artifact[],
  folder: string,
  signal: AbortSignal,
): Promise<Saved> {
  const last = new Map(
    artifacts.flatMap(({ files }) => files.map((file) => [JSON.stringify([file.name, file.name_b64]), file] as const)),
  )
  const paths: string[] = []
  const failed: Saved['failed'][number][] = []
  for (const file of last.values()) {
    try {
      const path = await pathIn(folder, localName(file))
      if (paths.includes(path)) throw new NotSaved('invalid_request', `another file is saved as ${path}`)
      const { bytes } = await download({ http: `GET ${file.url}` }, {}, { signal })
      await saveBytes(path, bytes)
      paths.push(path)
    } catch (error) {
      if (!(error instanceof NotSaved)) throw error
      failed.push({ name: file.name, error: error.message, code: error.code })
    }
  }
  return { paths, failed }
}

/** Reports the files that the artifacts could not contain, such as links and files that are too large. */
export function noteSkipped(io: Io, artifacts: readonly Artifact[]): void {
  for (const { skipped } of artifacts)
    for (const { name, reason } of skipped) note(io, `not saved: ${name} (${reason.replaceAll('_', ' ')})`)
}

/** Whether an output is standard output, under any of its names: the path of the saved file must not be printed to it. */
export const isStdout = (output: string | undefined): boolean =>
  output !== undefined && /^(?:-|\/dev\/(?:stdout|fd\/1)|\/proc\/self\/fd\/1)$/.test(output)

/** Returns the path of an output file; in a folder, the file keeps its name. */
export async function targetOf(cwd: string, output: string | undefined, name: string): Promise<string> {
  if (output === undefined) return pathIn(cwd, name)
  return /[/\\]$/.test(output) ? pathIn(resolve(cwd, output), name) : resolve(cwd, output)
}
