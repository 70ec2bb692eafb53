/**
 * `bax scrape` plainly typed: no commander, no schemas, no server's floor, one file to load. Whatever is not plainly
 * right is left to the whole program, with its help and its advice; both give the same pages.
 */
import type { Param } from '../../core/operation/params.ts'
import type { Manifest } from '../../operations/manifest.ts'
import type { Context } from '../context.ts'
import { openHome } from '../engine/locate-engine.ts'
import type { Io } from '../io.ts'
import { globalParams, plainWords, switchFlag, textFlag } from './quick-parse.ts'
import { scrapeFields, scrapePages } from '../scrape/scrape-pages.ts'
import { readSettings } from '../settings.ts'
import { attributeOf, globalFlags, type Typed } from './values.ts'

const own: readonly Param[] = [textFlag('file'), textFlag('output'), switchFlag('ndjson'), switchFlag('fail_on_status')]

/** The exit code; undefined, before anything has happened, when this is not for the short way. */
export async function quickScrape(argv: readonly string[], io: Io, manifest: Manifest): Promise<number | undefined> {
  const typed = quickWords(argv, manifest)
  if (!typed) return undefined
  const context: Context = { io, manifest, settings: readSettings(globalFlags(typed.flags), io) }
  const open = async () => (await import('../engine/embedded-scraper.ts')).openScraper(context)
  return scrapePages(context, typed, openHome(context, { when: 'ask' }, open))
}

/** Words and flags whose values cannot be wrong: schemas have nothing to say about them. */
export function quickWords(argv: readonly string[], manifest: Manifest): Typed | undefined {
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
