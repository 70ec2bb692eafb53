/** Checks a state folder for damaged files, and for temporary files of killed processes. */
import { closeSync, type Dirent, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning } from '../process/process-facts.ts'
import { isAside } from './state-file.ts'
import { stateKinds, textKinds } from './state-kinds.ts'
import { decodeRecord, type StateKind } from './state-record.ts'

export interface DamagedFile {
  /** Path below the state folder. */
  readonly file: string
  readonly why: string
}

/** Folders with content of sessions and users. */
const foreign: ReadonlySet<string> = new Set(['downloads', 'blobs'])

/** Lists damaged files and those that were moved aside; changes nothing. */
export function damagedFiles(stateDir: string): DamagedFile[] {
  return [...entriesOf(stateDir)].flatMap(({ path, entry }) => {
    const why = isAside(entry.name) ? 'was damaged and moved aside' : damageOf(stateDir, path)
    return why === undefined ? [] : [{ file: path, why }]
  })
}

function damageOf(stateDir: string, path: string): string | undefined {
  const kind: StateKind | undefined = Object.values<StateKind>(stateKinds).find(({ files }) => files.test(path))
  const textKind = Object.values(textKinds).find(({ files }) => files.test(path))
  if (!kind && !textKind) return undefined
  try {
    if (kind?.lines) return lineDamage(join(stateDir, path), kind)
    const text = readFileSync(join(stateDir, path), 'utf8')
    if (kind) return recordDamage(text, kind)
    return textKind?.isContent(text) ? undefined : 'is damaged'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    return code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`
  }
}

const chunkBytes = 1024 * 1024

/** Finds the first damaged line. An incomplete last line does not count: its process was killed. */
function lineDamage(path: string, kind: StateKind): string | undefined {
  const file = openSync(path, 'r')
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let rest = Buffer.alloc(0)
  let line = 0
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      rest = Buffer.concat([rest, chunk.subarray(0, read)])
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        line += 1
        if (recordDamage(rest.toString('utf8', 0, end), kind) !== undefined) return `is damaged in line ${line}`
        rest = rest.subarray(end + 1)
      }
    }
    return undefined
  } finally {
    closeSync(file)
  }
}

function recordDamage(text: string, kind: StateKind): string | undefined {
  const record = decodeRecord(text, kind)
  return 'damage' in record ? `is damaged (${record.damage})` : undefined
}

/** Lists all files and folders; a folder may be in the place of a file. */
function* entriesOf(stateDir: string, below = '', depth = 0): Generator<{ path: string; entry: Dirent }> {
  let entries: Dirent[]
  try {
    entries = readdirSync(join(stateDir, below), { withFileTypes: true })
  } catch {
    // The folder was removed meanwhile, or belongs to another user.
    return
  }
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    yield { path, entry }
    if (entry.isDirectory() && !foreign.has(entry.name) && depth < 3) yield* entriesOf(stateDir, path, depth + 1)
  }
}

/** Names created by `temporaryPath`, now and in earlier versions. */
const temporary = /^\.bax-(?:(\d+)-)?[0-9a-f]{12}\.tmp$|(?:^|\.)[0-9a-f]{12,16}\.tmp$/

export const isTemporary = (name: string): boolean => temporary.test(name)

const abandonedMs = { deadProcess: 10_000, anyProcess: 60 * 60_000 }

/**
 * Removes temporary files of killed processes, but never one that is still being written: its process is alive or, in a
 * container that shares the folder, has just written to it.
 */
export function removeAbandoned(stateDir: string, now = Date.now()): string[] {
  const removed: string[] = []
  const folders = [
    '',
    'keys',
    'profiles',
    'credentials',
    'sessions',
    'shell-sessions',
    ...foldersIn(stateDir, 'crawls'),
    ...foldersIn(stateDir, 'versions'),
    ...foldersIn(stateDir, 'artifacts').flatMap((one) => [one, `${one}/blobs`]),
  ]
  for (const folder of folders) {
    for (const name of namesIn(join(stateDir, folder))) {
      const found = temporary.exec(name)
      const path = join(stateDir, folder, name)
      if (!found || !isAbandoned(path, found[1], now)) continue
      rmSync(path, { force: true })
      removed.push(folder === '' ? name : `${folder}/${name}`)
    }
  }
  return removed
}

function isAbandoned(path: string, pid: string | undefined, now: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) return false
  const age = now - found.mtimeMs
  return age > abandonedMs.anyProcess || (age > abandonedMs.deadProcess && pid !== undefined && !isRunning(Number(pid)))
}

const foldersIn = (stateDir: string, folder: string): string[] =>
  namesIn(join(stateDir, folder)).map((name) => `${folder}/${name}`)

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
