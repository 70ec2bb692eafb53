/** The text of a page or file, as Markdown. */
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { type Unchecked, uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { systemReason } from '../../core/errors/system-errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeMetadata, WarningCode } from '../../core/shapes/scrape.ts'
import { readRegularFile } from '../../core/state/outside-files.ts'
import { siteHint } from '../output/site-hint.ts'
import { textFlag } from '../../lines/typed.ts'
import { flagOf, type TypedArguments } from '../../lines/values.ts'
import { typedIdentityFlag, withIdentity } from '../scrape/identity-flags.ts'
import { locateScraper } from '../scrape/locate-scraper.ts'
import { startSpinner } from '../output/progress.ts'
import type { Context } from '../context.ts'
import { readStdinBytes } from '../io.ts'

export interface Source {
  readonly markdown: string
  readonly metadata: Partial<ScrapeMetadata>
  readonly warning?: string | undefined
  readonly warning_code?: WarningCode | undefined
}

/** Options of the scrape by field, and all typed flags. */
interface Typed {
  readonly options: Unchecked
  readonly flags: TypedArguments['flags']
}

/** Whether a word names a file: it exists, is standard input, or starts like a path. */
export const isFile = ({ io }: Context, word: string): boolean =>
  word === '-' || /^(?:\.{0,2}[/\\]|~)/.test(word) || existsSync(resolve(io.cwd, word))

/** Files whose text is read as it is. */
const plainText = /^\.(?:md|markdown|txt|text)$/i

/** Reads a file: Markdown and text as they are, others as `bax extract` does. @throws BaxError `invalid_request` */
export async function readFileSource({ io }: Context, word: string, { options, flags }: Typed): Promise<Source> {
  const { only_main_content: onlyMain = true, ...others } = options
  const other = Object.keys(others).find((name) => others[name] !== undefined)
  const flag =
    other === undefined ? typedIdentityFlag(flags) : flagOf({ name: others[other] === false ? `no_${other}` : other })
  if (flag !== undefined) throw new BaxError('invalid_request', `${flag} is for pages, and ${word} is a file`)
  const path = resolve(io.cwd, word)
  const bytes = word === '-' ? await readStdinBytes(io) : contentOf(path, word)
  const metadata = { sourceURL: word }
  if (plainText.test(extname(word))) {
    const { decodeText } = await import('../../engine/render/http/charset.ts')
    return { markdown: (await decodeText(bytes, null, { declares: false })).text, metadata }
  }
  const { extractPage } = await import('../extract/extract-page.ts')
  const task = { bytes, onlyMain: onlyMain === true, headline: true }
  const { markdown = '', error, warning, warning_code } = await extractPage(task)
  if (error !== undefined) throw new BaxError('invalid_request', `${word}: ${error}`)
  return { markdown, metadata, warning, warning_code }
}

function contentOf(path: string, word: string): Uint8Array {
  try {
    return readRegularFile(path, limits.scrape.bodyBytes)
  } catch (cause) {
    throw new BaxError('invalid_request', `cannot read ${word}: ${systemReason(cause)}`, { cause })
  }
}

/** Scrapes a page. @throws BaxError of the scrape */
export async function readPageSource(context: Context, url: string, { options, flags }: Typed): Promise<Source> {
  const { io, settings } = context
  const session_id = textFlag(flags, 'session')
  const identity = withIdentity(session_id === undefined ? {} : { session_id }, flags, io.cwd)
  const { ask, transport } = locateScraper(context, flags)
  const progress = await startSpinner(io, `reading ${url}`)
  try {
    const input = uncheckedFields({ ...options, ...identity, url, prefer_markdown: 'always' })
    const answer = await ask('scrape', input, { signal: io.signal, strict: true })
    const { data, warning, warning_code } = answer
    if (answer.success && data) return { markdown: data.markdown ?? '', metadata: data.metadata, warning, warning_code }
    const error = BaxError.fromBody(answer)
    const hint = siteHint(error, url, settings)
    throw new BaxError(error.code, error.message, { cause: error, ...(hint && { hint }) })
  } finally {
    progress.stop()
    await transport.close()
  }
}
