/** Destinations of scraped pages: standard output in several forms, a file, or a folder. */
import { textFlag, textFlags } from '../../lines/typed.ts'
import { existsSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { BaxError } from '../../core/errors/errors.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import type { Context } from '../context.ts'
import { siteHint } from '../output/site-hint.ts'
import { printError } from '../output/errors.ts'
import { note, print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { elsewhere, writeOutput } from '../output/write-output.ts'
import { nameFor, type Piece, piecesOf, textOf } from './pieces.ts'

export interface Scraped {
  readonly url: string
  readonly answer?: ScrapeAnswer
  readonly error?: BaxError
}

export interface PageWriter {
  /** Writes one page, in the order of the command line; `failure` is the reason why it counts as failed. */
  take(scraped: Scraped, failure?: BaxError): Promise<void>
  end?(): Promise<void>
}

type Flags = Readonly<Record<string, unknown>>

/** Returns the destination for the flags, the fields of the request, and the number of pages. */
export function pageWriterFor(context: Context, flags: Flags, input: Flags, count: number): PageWriter {
  const output = textFlag(flags, 'output')
  const lines = flags['ndjson'] === true
  if (lines || context.settings.json) return wholeAnswers(context, { lines, many: count > 1, output })
  if (output === undefined || output === '-') return toScreen(context, { many: count > 1, toStdout: output === '-' })
  const several = count > 1 || formatCount(input) > 1
  return several || isFolder(context, output) ? toFolder(context, output) : toFile(context, output)
}

const formatCount = (input: Flags): number => new Set(textFlags(input, 'formats')).size

function isFolder({ io }: Context, output: string): boolean {
  const path = resolve(io.cwd, output)
  return /[/\\]$/.test(output) || (existsSync(path) && statSync(path).isDirectory())
}

/** Prints the JSON answers: as one value, or one per line. */
function wholeAnswers(
  context: Context,
  form: { lines: boolean; many: boolean; output: string | undefined },
): PageWriter {
  const { io } = context
  const kept: unknown[] = []
  const file: string[] = []
  const write = (text: string) =>
    form.output === undefined || form.output === '-' ? print(io, text) : void file.push(text)
  return {
    async take({ url, answer, error }) {
      const body = answer ?? { ...error!.toBody(), data: { metadata: { sourceURL: url, error: error!.message } } }
      if (form.lines) write(JSON.stringify(body))
      else kept.push(body)
      if (error)
        await printError(io, `${url}: ${error.message} [${error.code}]`, siteHint(error, url, context.settings))
    },
    async end() {
      if (!form.lines) write(JSON.stringify(form.many ? kept : kept[0]))
      if (file.length > 0) writeOutput(resolve(io.cwd, form.output!), `${file.join('\n')}\n`)
    },
  }
}

function toScreen(context: Context, { many, toStdout }: { many: boolean; toStdout: boolean }): PageWriter {
  const { io } = context
  let first = true
  return {
    async take(scraped, failure) {
      if (failure)
        await printError(
          io,
          `${many ? `${scraped.url}: ` : ''}${failure.message} [${failure.code}]`,
          siteHint(failure, scraped.url, context.settings),
        )
      if (!scraped.answer) return
      if (many) print(io, `${first ? '' : '\n'}<!-- ${scraped.url.replaceAll('--', '-\u2060-')} -->\n`)
      first = false
      await showPieces(context, piecesOf(scraped.answer), scraped.url, toStdout)
      await showWarning(io, failure ? { warning: undefined } : scraped.answer)
    },
  }
}

/**
 * Prints a single text unchanged, several as one JSON value. Images go to files, except a single one that is requested
 * on standard output.
 */
async function showPieces({ io }: Context, pieces: readonly Piece[], url: string, toStdout: boolean): Promise<void> {
  const [only] = pieces
  if (pieces.length === 1 && only) {
    if ('text' in only) return void io.stdout.write(only.text.endsWith('\n') ? only.text : `${only.text}\n`)
    if (toStdout) return void io.stdout.write(only.bytes)
  }
  const texts = pieces.filter((piece) => 'text' in piece)
  const images = pieces.filter((piece) => 'bytes' in piece)
  if (texts.length > 0) {
    print(io, textOf(pieces).trimEnd())
  }
  for (const { extension, bytes } of images) {
    const path = nameFor(io.cwd, url, extension)
    writeOutput(path, bytes, elsewhere)
    const printPath = texts.length > 0 ? note : print
    printPath(io, relative(io.cwd, path))
  }
}

function toFile(context: Context, output: string): PageWriter {
  const { io } = context
  return {
    async take({ url, answer }, failure) {
      if (failure)
        await printError(io, `${failure.message} [${failure.code}]`, siteHint(failure, url, context.settings))
      const [piece] = answer ? piecesOf(answer) : []
      if (!piece) return
      writeOutput(resolve(io.cwd, output), 'bytes' in piece ? piece.bytes : piece.text)
      await showWarning(io, failure ? {} : answer)
    },
  }
}

function toFolder(context: Context, output: string): PageWriter {
  const { io } = context
  const folder = resolve(io.cwd, output)
  const taken = new Set<string>()
  return {
    async take({ url, answer }, failure) {
      if (failure)
        await printError(io, `${url}: ${failure.message} [${failure.code}]`, siteHint(failure, url, context.settings))
      for (const piece of answer ? piecesOf(answer) : []) {
        const path = nameFor(folder, url, piece.extension, taken)
        writeOutput(path, 'bytes' in piece ? piece.bytes : piece.text)
        print(io, relative(io.cwd, path))
      }
      if (answer && !failure) await showWarning(io, answer)
    },
  }
}
