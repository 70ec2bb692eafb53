/** `bax extract`: converts HTML files or standard input to Markdown or JSON, without a browser or the network. */
import { listedWords, textFlag } from '../../lines/typed.ts'
import { basename, resolve } from 'node:path'
import { Option } from 'commander'
import { BaxError, exits } from '../../core/errors/errors.ts'
import { normaliseUrl } from '../../core/net/urls.ts'
import type { JsonOptions } from '../../engine/scrape/formats/json.ts'
import type { Context } from '../context.ts'
import { printError } from '../output/errors.ts'
import { extractAll } from '../extract/extract-all.ts'
import type { Extracted, ExtractTask } from '../extract/extract-page.ts'
import { type HtmlFile, htmlFilesOf, readBatch } from '../extract/html-files.ts'
import { writeOutput } from '../output/write-output.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { note, print } from '../io.ts'
import { addJsonFlags, readSchema } from '../scrape/json-format.ts'
import { showWarning } from '../output/output.ts'
import type { TypedArguments } from '../../lines/values.ts'

export const command: TerminalCommand = {
  cli: 'extract [file…]',
  summary: 'Convert HTML files to Markdown or JSON',
  example: [
    'bax extract page.html > page.md',
    'bax extract saved-pages/ -o markdown',
    'bax extract page.html --format json',
    'curl -s https://example.com | bax extract - --url https://example.com',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('[file...]', 'HTML files, or folders of them; - for standard input (the default)')
      command.option('--url <url>', 'URL of the page, to resolve links; by default its canonical link')
      command.addOption(new Option('--format <format>', 'format of the result').choices(['markdown', 'json']))
      addJsonFlags(command)
      command.option('--headline', 'restore a missing headline and missing parts of reference documentation')
      command.option('--no-only-main-content', 'keep navigation, header, footer and other boilerplate')
      command.option('--no-site-memory', 'keep parts that repeat on several of the files')
      command.option('-o, --output <file|folder>', 'file for the result; folder or file.json for several files')
      command.option('--ndjson', 'print one JSON object {file, markdown} or {file, json} per file')
    })
    const words = listedWords(typed.words, 0)
    const batch = readBatch(context.io, words)
    const inputs = batch?.files ?? htmlFilesOf(context.io, words)
    const json = jsonOptions(context, typed)
    if (json) (await import('../../engine/scrape/formats/json.ts')).checkSchema(json)
    return run(
      context,
      { ...typed, flags: { ...typed.flags, ...(batch && { output: batch.output }) } },
      { inputs, json },
    )
  },
}

/** Returns the options of the json format, if it is requested. */
function jsonOptions({ io }: Context, { flags }: TypedArguments): JsonOptions | undefined {
  const [prompt, schema, format] = [textFlag(flags, 'prompt'), textFlag(flags, 'schema'), textFlag(flags, 'format')]
  const isGiven = prompt !== undefined || schema !== undefined
  if (format === 'markdown' && isGiven) {
    const flag = schema === undefined ? '--prompt' : '--schema'
    throw new BaxError('invalid_request', `${flag} is for --format json, not markdown`)
  }
  if (format !== 'json' && !isGiven) return undefined
  const parsed = schema === undefined ? undefined : (readSchema(schema, io.cwd) as Record<string, unknown>)
  return { ...(prompt !== undefined && { prompt }), ...(parsed && { schema: parsed, schemaField: '--schema' }) }
}

interface Job {
  readonly inputs: readonly HtmlFile[]
  readonly json: JsonOptions | undefined
}

async function run(context: Context, { flags }: TypedArguments, { inputs: files, json }: Job): Promise<number> {
  const { io, settings } = context
  const output = textFlag(flags, 'output')
  const whole = output !== undefined && /\.json$/i.test(output) && (!json || files.length > 1)
  const all: Record<string, Extracted> = {}
  let failed = false
  const many = files.length > 1
  // Several JSON values on one output are lines.
  const isStream = json !== undefined && many && (output === undefined || output === '-')
  const show = (name: string, result: string) => {
    if (output === undefined || output === '-') {
      if (many) print(io, `<!-- ${name} -->\n`)
      return void io.stdout.write(many ? `${result}\n` : result)
    }
    if (!many && !/[/\\]$/.test(output)) return writeOutput(resolve(io.cwd, output), result)
    const path = resolve(io.cwd, output, `${basename(name).replace(/\.x?html?$/i, '')}.${json ? 'json' : 'md'}`)
    writeOutput(path, result)
    note(io, path)
  }
  const tasks = files.map((file) => ({ file, task: { ...taskOf(context, flags, file), ...(json && { json }) } }))
  for await (const { file, extracted } of extractAll(io, tasks, !json && flags['siteMemory'] !== false)) {
    failed ||= extracted.error !== undefined
    if (extracted.error !== undefined) await printError(io, `${file.name}: ${extracted.error}`)
    if (whole) all[file.name] = extracted
    else if (flags['ndjson'] || settings.json || isStream) print(io, JSON.stringify({ file: file.name, ...extracted }))
    else if (extracted.markdown !== undefined) show(file.name, extracted.markdown)
    else if (extracted.error === undefined) show(file.name, `${JSON.stringify(extracted.json, null, 2)}\n`)
    if (!whole)
      await showWarning(io, extracted.warning && many ? { warning: `${file.name}: ${extracted.warning}` } : extracted)
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
