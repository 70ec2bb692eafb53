/** Saves and restores the folders of applications, and queries their SQLite databases. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitUntil } from './wait.ts'

/** Copies folders; returns functions that put their contents back, and that remove the copy. */
export async function keepFolders(folders: readonly string[]) {
  const copy = await mkdtemp(join(tmpdir(), 'bax-stored-'))
  const pairs = folders.map((folder, at) => ({ folder, kept: join(copy, String(at)) }))
  await waitUntil(() => isClosed(folders))
  for (const { folder, kept } of pairs) await cp(folder, kept, { recursive: true })
  return {
    // The application may still handle requests of pages that were closed, and write.
    restore: () => waitUntil(() => replaceAll(pairs).then(() => true, isWriting)),
    remove: () => rm(copy, { recursive: true, force: true }),
  }
}

/** Returns whether no SQLite database in the folders is open: then it has files of these names beside it. */
async function isClosed(folders: readonly string[]): Promise<boolean> {
  const names = await Promise.all(folders.map((folder) => readdir(folder, { recursive: true })))
  return !names.flat().some((name) => /-(?:shm|wal)$/.test(name))
}

interface Pair {
  readonly folder: string
  readonly kept: string
}

async function replaceAll(pairs: readonly Pair[]): Promise<void> {
  for (const { folder, kept } of pairs) {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
    await cp(kept, folder, { recursive: true })
  }
}

/** Returns false for the error of a file that another process has added or deleted meanwhile; rethrows others. */
function isWriting(error: NodeJS.ErrnoException): boolean {
  if (/^(?:EEXIST|ENOENT|ENOTEMPTY)$/.test(error.code ?? '')) return false
  throw error
}

/** Runs statements on a SQLite database; returns the rows of the last one, as lists. */
export async function sqlite(path: string, statements: string): Promise<unknown[][]> {
  const program = `
    $db = new PDO('sqlite:' . $argv[1]);
    $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
    foreach (explode(';', $argv[2]) as $each) $rows = $db->query($each)->fetchAll(PDO::FETCH_NUM);
    echo json_encode($rows);`
  const { stdout } = await promisify(execFile)('php', ['-r', program, path, statements])
  return JSON.parse(stdout) as unknown[][]
}
