/** State files, written atomically. A damaged one is moved aside, so that it disables nothing but itself. */
import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readFileSync, renameSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { BaxError } from '../errors/errors.ts'
import { writeAtomic } from './files.ts'
import { decodeRecord, encodeRecord, type StateKind } from './state-record.ts'

/** Writes a state file atomically. */
export const writeState = (path: string, content: object): Promise<void> =>
  writeAtomic(path, `${encodeRecord(content)}\n`)

/** A state file that cannot be used. */
export class UnusableFile extends BaxError {
  /** File name without its folder. */
  readonly file: string
  /** New file name, if it was moved aside. */
  readonly movedTo: string | undefined

  constructor(path: string, { name, code = 'engine_failed' }: NamedKind, why: string, movedTo?: string) {
    const file = basename(path)
    super(code, `the ${name} ${file} ${why}${movedTo === undefined ? '' : ` and was moved to ${movedTo}`}`, {
      hint: 'see "bax doctor"',
    })
    this.file = file
    this.movedTo = movedTo
  }
}

type NamedKind = Pick<StateKind, 'name' | 'code'>

/**
 * Reads a state file; returns undefined if it does not exist.
 * @throws UnusableFile if it is damaged, after moving it aside, or unreadable
 */
export function readState<Content>(path: string, kind: StateKind): Content | undefined {
  const found = readText(path, kind)
  if (found === undefined) return undefined
  const record = decodeRecord<Content>(found.text, kind)
  if ('content' in record) return record.content
  throw setAside(path, found.stats, kind, `is damaged (${record.damage})`)
}

/** Reads a plain text file in the same way; `isContent` checks whether the text is complete. */
export function readStateText(
  path: string,
  kind: NamedKind & { isContent: (text: string) => boolean },
): string | undefined {
  const found = readText(path, kind)
  if (found === undefined || kind.isContent(found.text)) return found?.text
  throw setAside(path, found.stats, kind, 'is damaged')
}

function readText(path: string, kind: NamedKind): { text: string; stats: Stats } | undefined {
  let file: number | undefined
  let stats: Stats | undefined
  try {
    file = openSync(path, 'r')
    stats = fstatSync(file)
    return { text: readFileSync(file, 'utf8'), stats }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'EISDIR') throw setAside(path, stats!, kind, 'is damaged (it is a folder)')
    throw new UnusableFile(path, kind, `cannot be read (${code})`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Moves a damaged file aside, unless it was replaced after it was read. */
function setAside(path: string, read: Stats, kind: NamedKind, why: string): UnusableFile {
  const now = lstatSync(path, { throwIfNoEntry: false })
  const isSame = now?.ino === read.ino && now.dev === read.dev && now.mtimeMs === read.mtimeMs
  return new UnusableFile(path, kind, why, isSame ? moveAside(path) : undefined)
}

const asideMark = '.damaged-'

/** Returns whether a file was moved aside because it was damaged. */
export const isAside = (name: string): boolean => name.includes(asideMark)

/** Returns the path to move a damaged file to. */
export const asideName = (path: string): string =>
  `${path}${asideMark}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`

/** Renames a damaged file; returns its new name, or undefined if the folder does not allow it. */
export function moveAside(path: string): string | undefined {
  const moved = asideName(path)
  try {
    renameSync(path, moved)
    return basename(moved)
  } catch {
    // On a read-only file system it stays where it is, but is reported nevertheless.
    return undefined
  }
}

/** Lists a folder of state files; moves a file in its place aside. */
export function listState(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTDIR') moveAside(folder)
    else if (code !== 'ENOENT') throw error
    return []
  }
}

/** Separates readable from unusable files; other errors are thrown. */
export function readEach<Key, Content>(
  keys: readonly Key[],
  read: (key: Key) => Content | undefined,
): { good: Content[]; bad: UnusableFile[] } {
  const good: Content[] = []
  const bad: UnusableFile[] = []
  for (const key of keys) {
    try {
      const content = read(key)
      if (content !== undefined) good.push(content)
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error
      bad.push(error)
    }
  }
  return { good, bad }
}

/** Builds a warning that names the damaged or unreadable files of a folder; undefined when there are none. */
export function damageWarning({ name }: NamedKind, folder: string, bad: readonly UnusableFile[]): string | undefined {
  const unmoved = bad.filter(({ movedTo }) => movedTo === undefined).map(({ file }) => file)
  const names = [...unmoved, ...listState(folder).filter(isAside)]
  if (names.length === 0) return undefined
  const shown = names.slice(0, mostNamed).join(', ')
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  return `skipped because damaged (${name}): ${shown}${more}; see \`bax doctor\``
}

const mostNamed = 5
