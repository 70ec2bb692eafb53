/**
 * Runs simple `bax scrape` commands from one small file, without commander, schemas or the server. Everything else,
 * including errors, is left to the full program. Both return the same pages.
 */
import type { Param } from '../../core/operation/params.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { Context } from '../context.ts'
import { locateEngine } from '../engine/locate-engine.ts'
import type { Io } from '../io.ts'
import { globalParams, plainWords, switchFlag, textFlag } from './quick-parse.ts'
import { scrapeFields, scrapePages } from '../scrape/scrape-pages.ts'
import { readSettings } from '../settings.ts'
import { attributeOf, globalFlags, type TypedArguments } from './values.ts'

const own: readonly Param[] = [textFlag('file'), textFlag('output'), switchFlag('ndjson'), switchFlag('fail_on_status')]

/** Returns the exit code; undefined, without side effects, if the full program has to run. */
export async function quickScrape(argv: readonly string[], io: Io, manifest: Manifest): Promise<number | undefined> {
  const typed = quickWords(argv, manifest)
  if (!typed) return undefined
  const context: Context = { io, manifest, settings: readSettings(globalFlags(typed.flags), io) }
  const open = async () => (await import('../engine/embedded-scraper.ts')).openScraper(context)
  return scrapePages(context, typed, locateEngine(context, { when: 'ask' }, open))
}

/** Returns words and flags whose values need no validation by a schema; otherwise undefined. */
export function quickWords(argv: readonly string[], manifest: Manifest): TypedArguments | undefined {
  const fields = scrapeFields(manifest).filter(isPlain)
  const typed = plainWords(argv, [...globalParams, ...own, ...fields])
  if (!typed || (typed.words.length === 0 && typed.flags['file'] === undefined)) return undefined
  const right = fields.every((field) => isChoice(field, typed.flags[attributeOf(field)]))
  return right ? { words: [typed.words], flags: typed.flags } : undefined
}

const isPlain = ({ type, choices, itemChoices }: Param): boolean =>
  type === 'boolean' || choices !== undefined || itemChoices !== undefined

function isChoice({ choices, itemChoices }: Param, given: unknown): boolean {
  if (given === undefined || typeof given === 'boolean') return true
  const items = [given].flat().flatMap((text) => (itemChoices ? String(text).split(',') : [String(text)]))
  return items.every((item) => (choices ?? itemChoices)!.includes(item))
}
