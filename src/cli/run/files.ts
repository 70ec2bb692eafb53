/** Finds the scripts of a run. */
import { realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, relative, resolve } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { BaxError } from '../../core/errors/errors.ts'
import { isStream } from './streams.ts'

/** Scripts, and the errors of files, folders and globs without scripts. */
export interface FoundScripts {
  readonly files: readonly string[]
  readonly problems: readonly string[]
}

/**
 * Expands files, pipes, `-`, folders (their YAML files) and globs, without duplicates; folders and globs are sorted by name.
 * @throws BaxError `invalid_request` when there are no scripts at all
 */
export async function findScripts(given: readonly string[], cwd: string): Promise<FoundScripts> {
  const found = new Map<string, string>()
  const problems: string[] = []
  for (const text of given) {
    const files = await expand(text, cwd)
    if (typeof files === 'string') problems.push(files)
    else for (const file of files) if (!found.has(resolve(cwd, file))) found.set(resolve(cwd, file), file)
  }
  if (found.size === 0) {
    throw new BaxError('invalid_request', problems.join('; '), { hint: 'pass files, folders or globs' })
  }
  return { files: [...found.values()], problems }
}

/** Returns a path relative to the working folder, or an absolute path outside it. */
export function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path)
  return below.startsWith('..') || isAbsolute(below) ? path : below
}

/** Returns whether two paths lead to one file, which has many paths through links. */
export const isSameFile = (a: string, b: string): boolean => realOf(a) === realOf(b)

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Reading it reports why.
    return path
  }
}

/** Returns the name of a script that does not declare one. */
export const scriptName = (file: string): string => basename(file).replace(/\.(ya?ml|json)$/i, '')

/** Returns the scripts that a word of the command line names, or an error message. */
async function expand(text: string, cwd: string): Promise<string[] | string> {
  if (isStream(text, cwd)) return [text]
  const stat = statSync(resolve(cwd, text), { throwIfNoEntry: false })
  if (stat?.isFile()) return [shownPath(resolve(cwd, text), cwd)]
  if (stat?.isDirectory()) return matching(['**/*.{yaml,yml}'], resolve(cwd, text), cwd, `no YAML files in ${text}`)
  if (stat) return `cannot run ${text}: it is not a file, a folder or a pipe`
  if (!isDynamicPattern(text)) return `script not found: ${text}`
  return matching([text], cwd, cwd, `no file matches ${JSON.stringify(text)}`)
}

async function matching(patterns: string[], folder: string, cwd: string, none: string): Promise<string[] | string> {
  const files = await glob(patterns, {
    cwd: folder,
    absolute: true,
    onlyFiles: true,
    expandDirectories: false,
    ignore: ['**/node_modules/**'],
  })
  if (files.length === 0) return none
  return files.map((file) => shownPath(file, cwd)).toSorted((a, b) => (a < b ? -1 : 1))
}

/** The share of one of several machines. */
export interface Shard {
  readonly index: number
  readonly of: number
}

/** Parses `2/4`. @throws BaxError `invalid_request` */
export function parseShard(text: string): Shard {
  const match = /^(\d+)\/(\d+)$/.exec(text)
  const [index, of] = [Number(match?.[1]), Number(match?.[2])]
  if (match && index >= 1 && index <= of) return { index, of }
  throw new BaxError('invalid_request', `--shard must be i/n with i from 1 to n, not ${JSON.stringify(text)}`)
}

/** Returns every n-th file, so that neighbours, which are often similar, go to different machines. */
export const shardOf = (files: readonly string[], { index, of }: Shard): string[] =>
  files.filter((_, at) => at % of === index - 1)
