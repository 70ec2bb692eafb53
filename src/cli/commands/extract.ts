/** `bax extract`: converts HTML files or standard input to Markdown, without a browser or the network. */
import { listedWords, textFlag } from '../parse/typed.ts'
import { basename, resolve } from 'node:path'
import { exits } from '../../core/errors/errors.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import type { Context } from '../context.ts'
import { printError } from '../output/errors.ts'
import { extractAll } from '../extract/extract-all.ts'
import type { Extracted, ExtractTask } from '../extract/extract-page.ts'
import { type HtmlFile, htmlFilesOf, readBatch } from '../extract/html-files.ts'
import { writeOutput } from '../output/write-output.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { note, print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import type { TypedArguments } from '../parse/values.ts'

export const command: TerminalCommand = async (invocation) => {
  const { context, typed } = parseInvocation(invocation, (command) => {
    command.argument('[file...]', 'HTML files, or folders of them; - for standard input (the default)')
    command.option('--url <url>', 'URL of the page, to resolve links; by default its canonical link')
    command.option('--headline', 'restore a missing headline and missing parts of reference documentation')
    command.option('--no-only-main-content', 'keep navigation, header, footer and other boilerplate')
    command.option('--no-site-memory', 'keep parts that repeat on several of the files')
    command.option('-o, --output <file|folder>', 'file for the Markdown; folder or file.json for several files')
    command.option('--ndjson', 'print one JSON object {file, markdown} per file')
  })
  const words = listedWords(typed.words, 0)
  const batch = readBatch(context.io, words)
  const inputs = batch?.files ?? htmlFilesOf(context.io, words)
  return run(context, { ...typed, flags: { ...typed.flags, ...(batch && { output: batch.output }) } }, inputs)
}

async function run(context: Context, { flags }: TypedArguments, files: readonly HtmlFile[]): Promise<number> {
  const { io, settings } = context
  const output = textFlag(flags, 'output')
  const whole = output !== undefined && /\.json$/i.test(output)
  const all: Record<string, Extracted> = {}
  let failed = false
  const many = files.length > 1
  const show = (name: string, markdown: string) => {
    if (output === undefined || output === '-') {
      if (many) print(io, `<!-- ${name} -->\n`)
      return void io.stdout.write(many ? `${markdown}\n` : markdown)
    }
    if (!many && !/[/\\]$/.test(output)) return writeOutput(resolve(io.cwd, output), markdown)
    const path = resolve(io.cwd, output, `${basename(name).replace(/\.x?html?$/i, '')}.md`)
    writeOutput(path, markdown)
    note(io, path)
  }
  const tasks = files.map((file) => ({ file, task: taskOf(context, flags, file) }))
  for await (const { file, extracted } of extractAll(io, tasks, flags['siteMemory'] !== false)) {
    failed ||= extracted.error !== undefined
    if (extracted.error !== undefined) await printError(io, `${file.name}: ${extracted.error}`)
    if (whole) all[file.name] = extracted
    else if (flags['ndjson'] || settings.json) print(io, JSON.stringify({ file: file.name, ...extracted }))
    else if (extracted.markdown !== undefined) show(file.name, extracted.markdown)
    if (!whole) await showWarning(io, extracted.warning && many ? { warning: `${file.name}: ${extracted.warning}` } : extracted) // prettier-ignore
  }
  if (whole) writeOutput(resolve(io.cwd, output), JSON.stringify(all))
  return failed ? exits.failed : exits.done
}

function taskOf({ io }: Context, flags: TypedArguments['flags'], file: HtmlFile): ExtractTask {
  const given = textFlag(flags, 'url') ?? file.url ?? (io.env['URL'] || undefined)
  return {
    ...(file.path !== undefined && { path: file.path }),
    ...(given !== undefined && { url: normaliseUrl(given, '--url') }),
    onlyMain: flags['onlyMainContent'] !== false && io.env['ONLY_MAIN_CONTENT'] !== 'false',
    headline: flags['headline'] === true,
  }
}
