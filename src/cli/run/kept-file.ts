/** Files that a run leaves for others: reports' pictures, artifacts, stored pictures. Unlike a state folder's they are not private. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a file, with the folders above it. */
export async function keepFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}
