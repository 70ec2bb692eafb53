/** Output of a batch: values and pages to stdout, screenshots to files, failures to stderr. */
import { relative, resolve } from 'node:path'
import { BaxError, errorTable, exits, isErrorCode } from '../../core/errors/errors.ts'
import type { Annotation, CommandResult, CommandsResult } from '../../core/shapes/commands.ts'
import { type Content, contentOf } from '../../core/text/command-content.ts'
import { findEntry, type TypedCommand } from '../../lines/batch.ts'
import type { Context } from '../context.ts'
import { note, print } from '../io.ts'
import { quoted } from './quoted.ts'
import {
  blockedHint,
  dialogNotes,
  downloadNotes,
  keptAnswerNotes,
  matchesNotes,
  warningNotes,
  nearestSelector,
  swappedHint,
} from '../../core/text/result-notes.ts'
import { styleFor } from './style.ts'
import { kebab } from '../../lines/values.ts'
import { showTable } from './output.ts'
import { writeNew, writeOutput } from './write-output.ts'

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
  let unwritten: BaxError | undefined
  for (const one of shown) {
    try {
      await showResult(context, one, now)
    } catch (error) {
      // The other results are still shown.
      if (!(error instanceof BaxError)) throw error
      unwritten ??= error
    }
  }
  noteResults(context, body, typed)
  await printFailures(context, body, typed)
  if (unwritten) throw unwritten
  return body.success ? exits.done : exitOf(body)
}

interface Shown {
  readonly result: CommandResult
  readonly content: Content | undefined
  readonly file: string | undefined
}

/** Writes one result. @throws BaxError when its file cannot be written */
async function showResult(context: Context, { result, content, file }: Shown, now: Date): Promise<void> {
  const { io, manifest, settings } = context
  if (io.stderr.isTTY && !settings.json) await showStep(context, result)
  if (content === undefined) return
  // Files of the session are fetched instead.
  if (file !== undefined && findEntry(result.command, manifest)?.stores) return
  if (file !== undefined && file !== '-')
    writeOutput(resolve(io.cwd, file), 'bytes' in content ? content.bytes : `${content.text}\n`)
  else if (!settings.json) await showContent(context, content, { toStdout: file === '-', now })
  if (!settings.json) showAnnotations(context, result, file === '-')
}

/** Returns the exit code of the first failure; a newer server may send codes that are unknown here. */
const exitOf = ({ code }: CommandsResult): number => (isErrorCode(code) ? errorTable[code].exit : exits.failed)

async function showStep({ io }: Context, { success, skipped, command, duration_ms }: CommandResult): Promise<void> {
  if (skipped) return
  const { green, red, dim } = await styleFor(io, io.stderr)
  note(io, `${success ? green('✓') : red('✗')} ${kebab(command)} ${dim(`${duration_ms ?? 0} ms`)}`)
}

/** Prints text. Bytes go to a new file, whose path is printed, also in a pipe: agents read it as text. */
async function showContent(
  { io }: Context,
  content: Content,
  { toStdout, now }: { toStdout: boolean; now: Date },
): Promise<void> {
  if ('text' in content && content.table) return showTable(io, content.table.rows, content.table.columns, 'entries')
  if ('text' in content) return print(io, content.text)
  if (toStdout) return void io.stdout.write(content.bytes)
  print(io, relative(io.cwd, writeNew(io.cwd, { now, extension: content.extension }, content.bytes)))
}

/** Lists the references drawn on a screenshot. */
function showAnnotations({ io }: Context, { data }: CommandResult, isStdoutTaken: boolean): void {
  const annotations = (data?.['annotations'] ?? []) as readonly Annotation[]
  for (const { ref, role, name } of annotations) {
    const line = `${ref} ${role}${name && ` ${JSON.stringify(name)}`}`
    if (isStdoutTaken) note(io, line)
    else print(io, line)
  }
}

/** Notes what happened beside the results. */
function noteResults(
  { io, manifest }: Context,
  { results }: CommandsResult,
  typed: readonly TypedCommand[] | null,
): void {
  const adviceFor = (name: string) => `: bax session download ${quoted(name)}`
  for (const { command, data, index } of results) {
    const name = data?.[findEntry(command, manifest)?.stores ?? '']
    if (name !== undefined && typed?.[index]?.output === undefined)
      note(io, `saved in the session's files${adviceFor(String(name))}`)
  }
  for (const text of results.flatMap((result) => downloadNotes(result, adviceFor))) note(io, text)
  for (const result of results) {
    const selector = String(typed?.[result.index]?.data['selector'] ?? 'the selector')
    for (const text of [...matchesNotes(result, selector), ...warningNotes(result)])
      note(io, `${kebab(result.command)}: ${text}`)
  }
  for (const result of results) {
    const accepts = typed?.[result.index]?.data['accept']
    for (const text of keptAnswerNotes(result, results, accepts === undefined ? undefined : accepts === true))
      note(io, text)
  }
  for (const result of results)
    for (const text of dialogNotes(result, 'run "bax dialog accept" first to accept it'))
      note(io, `${kebab(result.command)}: ${text}`)
}

async function printFailures(
  { io, settings }: Context,
  { results }: CommandsResult,
  typed: readonly TypedCommand[] | null,
): Promise<void> {
  for (const result of results) {
    if (result.success || result.skipped) continue
    const place = results.length > 1 ? `${kebab(result.command)} (${result.index + 1} of ${results.length}): ` : ''
    const nearest = nearestSelector(result)
    const data = typed?.[result.index]?.data ?? {}
    const { printError } = await import('./errors.ts')
    await printError(
      io,
      `${place}${result.error} [${result.code}]`,
      swappedHint(result.code, data) ??
        result.hint ??
        (nearest && `did you mean ${nearest}?`) ??
        blockedHint(result.code, Object.values(data), settings.server),
    )
  }
}
