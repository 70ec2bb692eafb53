/** From what was typed to the files that run. */
import { statSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { glob, isDynamicPattern } from 'tinyglobby'
import { BaxError } from '../../core/errors/errors.ts'

/** Files, folders (their YAML files) and globs, without duplicates; globs and folders in the order of the alphabet. */
export async function findScripts(given: readonly string[], cwd: string): Promise<string[]> {
  const found = new Map<string, string>()
  for (const text of given) {
    for (const file of await expand(text, cwd)) if (!found.has(resolve(cwd, file))) found.set(resolve(cwd, file), file)
  }
  return [...found.values()]
}

/** A path from the working folder, and whole when it is not below. */
export function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path)
  return below.startsWith('..') || isAbsolute(below) ? path : below
}

async function expand(text: string, cwd: string): Promise<string[]> {
  const stat = statSync(resolve(cwd, text), { throwIfNoEntry: false })
  if (stat?.isFile()) return [shownPath(resolve(cwd, text), cwd)]
  if (stat?.isDirectory()) return matching(['**/*.{yaml,yml}'], resolve(cwd, text), cwd, `${text} has no YAML file`)
  if (!isDynamicPattern(text)) {
    throw new BaxError('invalid_request', `there is no script ${text}`, { hint: 'give files, folders or globs' })
  }
  return matching([text], cwd, cwd, `no file matches ${JSON.stringify(text)}`)
}

async function matching(patterns: string[], folder: string, cwd: string, none: string): Promise<string[]> {
  const files = await glob(patterns, { cwd: folder, absolute: true, onlyFiles: true, expandDirectories: false, ignore: ['**/node_modules/**'] }) // prettier-ignore
  if (files.length === 0) throw new BaxError('invalid_request', none)
  return files.map((file) => shownPath(file, cwd)).toSorted((a, b) => (a < b ? -1 : 1))
}

/** One part of several machines' work. */
export interface Shard {
  readonly index: number
  readonly of: number
}

/** `2/4` @throws BaxError `invalid_request` */
export function parseShard(text: string): Shard {
  const match = /^(\d+)\/(\d+)$/.exec(text)
  const [index, of] = [Number(match?.[1]), Number(match?.[2])]
  if (match && index >= 1 && index <= of) return { index, of }
  throw new BaxError('invalid_request', `--shard must be i/n with i from 1 to n, not ${JSON.stringify(text)}`)
}

/** Every n-th file, so that neighbours, which often are alike, go to different machines. */
export const shardOf = (files: readonly string[], { index, of }: Shard): string[] =>
  files.filter((_, at) => at % of === index - 1)
