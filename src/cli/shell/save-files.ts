/** Bytes from a session into files of this machine: whole, or not there. */
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { call, download } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors.ts'
import type { Artifact, ArtifactFile, ArtifactList } from '../../core/shapes/shell-artifacts.ts'

/** Writes a file beside its place and renames it when all has come. */
export async function saveBytes(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.part`
  try {
    await mkdir(dirname(path), { recursive: true })
    await pipeline(bytes, createWriteStream(temporary, { flags: 'wx' }))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    const { code, syscall } = error as NodeJS.ErrnoException
    if (error instanceof BaxError || syscall === undefined) throw error
    throw new BaxError(code === 'ENOSPC' ? 'no_space' : 'invalid_request', `cannot write ${path}: ${code}`, {
      cause: error,
    })
  }
}

/** Saves a file of an artifact below a folder, under its own name. Returns where. */
async function saveArtifactFile(
  transport: Transport,
  file: ArtifactFile,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const path = placeIn(folder, file.name)
  const { bytes } = await download(transport, `GET ${file.url}`, {}, { signal })
  await saveBytes(path, bytes)
  return path
}

/** A name from a container is no path of this machine: it stays below the folder. */
function placeIn(folder: string, name: string): string {
  const path = resolve(folder, name)
  if (path.startsWith(resolve(folder) + sep)) return path
  throw new BaxError('invalid_request', `the name ${JSON.stringify(name)} leads out of ${folder}`)
}

/** Every artifact of a session, the oldest first. */
export async function artifactsOf(transport: Transport, sessionId: string, signal: AbortSignal): Promise<Artifact[]> {
  const all: Artifact[] = []
  let cursor: string | undefined
  do {
    const page = (await call(
      transport,
      'GET /shell/artifacts/by-session/{session_id}',
      { session_id: sessionId, cursor },
      { signal },
    )) as ArtifactList
    all.push(...page.artifacts)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/** Saves what the artifacts hold; of a name that comes more than once the last one. Returns the paths. */
export async function saveArtifacts(
  transport: Transport,
  artifacts: readonly Artifact[],
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const last = new Map(
    artifacts.flatMap(({ files }) => files.map((file) => [file.name_b64 ?? file.name, file] as const)),
  )
  const paths: string[] = []
  for (const file of last.values()) paths.push(await saveArtifactFile(transport, file, folder, signal))
  return paths
}

/** The file to write to: a folder that is named takes the name of what is saved. */
export const targetOf = (cwd: string, output: string | undefined, name: string): string =>
  output === undefined
    ? placeIn(cwd, name)
    : /[/\\]$/.test(output)
      ? join(resolve(cwd, output), name)
      : resolve(cwd, output)
