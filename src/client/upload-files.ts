/** Uploads the local files that commands name to the session, and returns the names that they have there. */
import type { Calls } from './calls.ts'
import type { CommandEntry } from '../operations/manifest.ts'
import { type LocalFile, localFiles } from './local-file.ts'

/** Prefix of a file that is already in the session. */
const inSession = 'session:'

/** Files that a command names: local ones, and names of files of the session. */
export type NamedFiles = readonly (LocalFile | string)[]

/** Finds the files that a command uploads; undefined if it uploads none. @throws BaxError for one that is missing */
export function filesToUpload(
  entry: Pick<CommandEntry, 'localFiles'> | undefined,
  data: Readonly<Record<string, unknown>>,
  cwd: string,
): NamedFiles | undefined {
  const given = entry?.localFiles === undefined ? undefined : data[entry.localFiles]
  if (!Array.isArray(given)) return undefined
  return given.flatMap((file): NamedFiles =>
    String(file).startsWith(inSession) ? [String(file).slice(inSession.length)] : localFiles(cwd, String(file)),
  )
}

export interface UploadTools extends Pick<Calls, 'upload'> {
  /** Reads the bytes of a file. */
  readonly read: (file: LocalFile) => AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

/** Uploads the local ones; returns the names of all in the session. */
export async function uploadFiles(
  files: NamedFiles,
  session_id: string,
  { read, upload, signal }: UploadTools,
): Promise<string[]> {
  const names: string[] = []
  for (const file of files) {
    if (typeof file === 'string') names.push(file)
    else {
      // A different file with this name must stay: the page may still read it.
      const where = { session_id, folder: file.folder, name: file.name, overwrite: false }
      const stored = await upload('uploadSessionFile', where, read(file), { signal, strict: true })
      names.push(stored.name)
    }
  }
  return names
}
