/** Output of a batch: values and pages to stdout, screenshots to files, failures to stderr. */
import { relative, resolve } from 'node:path'
import { exits } from '../../core/errors/errors.ts'
import type { CommandResult, CommandsResult } from '../../core/shapes/commands.ts'
import type { CommandEntry } from '../../operations/manifest.ts'
import { findEntry, type TypedCommand } from '../parse/batch.ts'
import type { Context } from '../context.ts'
import { note, print } from '../io.ts'
import { styleFor } from './style.ts'
import { kebab } from '../parse/values.ts'
import { freeScreenshotPath, writeOutput } from './write-output.ts'

/** Printable content of one result. */
type Content = { readonly text: string } | { readonly bytes: Buffer; readonly extension: string }

/** Writes the results of a batch; returns the exit code. `now` names screenshots without a file name. */
export async function showBatch(
  context: Context,
  body: CommandsResult,
  typed: readonly TypedCommand[] | null,
  now: Date,
): Promise<number> {
  const { io, manifest, settings } = context
  const shown = body.results.map((result) => ({
    result,
    content: result.success ? contentOf(result, findEntry(result.command, manifest)) : undefined,
    file: typed?.[result.index]?.output,
  }))
  if (settings.json) print(io, JSON.stringify(body))
  const printed = shown.filter(({ content, file }) => content !== undefined && file === undefined)
  for (const { result, content, file } of shown) {
    if (io.stderr.isTTY && !settings.json) await showStep(context, result)
    if (content === undefined) continue
    if (file !== undefined && file !== '-')
      writeOutput(resolve(io.cwd, file), 'bytes' in content ? content.bytes : `${content.text}\n`, false)
    else if (!settings.json)
      await showContent(context, content, { alone: printed.length === 1, forced: file === '-', now })
  }
  warnOfMatches(context, body, typed)
  await printFailures(context, body)
  return body.success ? exits.done : exits.failed
}

function contentOf(
  { command_type, content_type, data }: CommandResult,
  entry: CommandEntry | undefined,
): Content | undefined {
  if (!data) return undefined
  const bytes = entry?.bytes && data[entry.bytes]
  if (typeof bytes === 'string') {
    if (typeof data['path'] === 'string') return { text: data['path'] }
    return { bytes: Buffer.from(bytes, 'base64'), extension: content_type?.split('/')[1] ?? 'bin' }
  }
  if (command_type !== 'extraction') return undefined
  const result = data['result'] as { type: string; value: unknown } | undefined
  if (result)
    return { text: result.type === 'nan' ? 'NaN' : result.type === 'undefined' ? 'undefined' : text(result.value) }
  return { text: text(Object.hasOwn(data, 'content') ? data['content'] : data) }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

async function showStep({ io }: Context, { success, skipped, command, duration_ms }: CommandResult): Promise<void> {
  if (skipped) return
  const { green, red, dim } = await styleFor(io, io.stderr)
  note(io, `${success ? green('✓') : red('✗')} ${kebab(command)} ${dim(`${duration_ms ?? 0} ms`)}`)
}

async function showContent(
  { io }: Context,
  content: Content,
  { alone, forced, now }: { alone: boolean; forced: boolean; now: Date },
): Promise<void> {
  if ('text' in content) return print(io, content.text)
  if (forced || (alone && !io.stdout.isTTY)) return void io.stdout.write(content.bytes)
  const path = freeScreenshotPath(io.cwd, now, content.extension)
  writeOutput(path, content.bytes, false)
  print(io, relative(io.cwd, path))
}

function warnOfMatches({ io }: Context, { results }: CommandsResult, typed: readonly TypedCommand[] | null): void {
  for (const { command, index, matches } of results) {
    if (matches === undefined) continue
    const selector = String(typed?.[index]?.data['selector'] ?? 'the selector')
    const which = 'the first visible one is used, or else the first'
    note(io, `${kebab(command)}: ${selector} matches ${matches} elements: ${which}`)
  }
}

async function printFailures({ io }: Context, { results }: CommandsResult): Promise<void> {
  for (const result of results) {
    if (result.success || result.skipped) continue
    const place = results.length > 1 ? `${kebab(result.command)} (${result.index + 1} of ${results.length}): ` : ''
    const nearest = (result.details?.['candidates'] as { selector?: string }[] | undefined)?.[0]?.selector
    const { printError } = await import('./errors.ts')
    await printError(io, `${place}${result.error} [${result.code}]`, nearest && `did you mean ${nearest}?`)
  }
}
