/** Steps of browser tools: command lines as agents write them, and the effect on the page as text. */
import { type BatchKind, findEntry, type TypedCommand } from '../lines/batch.ts'
import { isHelpWanted } from '../lines/help-wanted.ts'
import { parseBatch } from '../lines/parse-batch.ts'
import { kebab, noFiles } from '../lines/values.ts'
import { filesToUpload, uploadFiles } from '../client/upload-files.ts'
import type { Input } from '../client/calls.ts'
import { BaxError } from '../core/errors/errors.ts'
import type { CommandResult } from '../core/shapes/commands.ts'
import type { StepResult } from '../core/shapes/observe.ts'
import { limits } from '../core/limits/limits.ts'
import { isInside } from '../core/state/outside-files.ts'
import { stepText } from '../core/text/changes.ts'
import { contentOf } from '../core/text/command-content.ts'
import { observationText } from '../core/text/observation.ts'
import {
  dialogNotes,
  downloadNotes,
  hasDismissed,
  matchesNotes,
  nearestSelector,
  warningNotes,
} from '../core/text/result-notes.ts'
import { splitWords } from '../core/text/shell-words.ts'
import type { Connection } from './connection.ts'
import { PageFailure, suggestion, type ToolAnswer, type ToolCall } from './tool.ts'

/** Lines have no flags of a batch: its session and output are arguments of the tool. */
const lineKind: BatchKind = { words: 'do', params: [], help: () => '' }

/** Part of a help text about flags that only the terminal has. */
const terminalFlags = /\nFlags of every browser command:[\s\S]*?(?=\nExamples:|$)/

/** Width of help texts, in characters. */
const helpWidth = 100

/** Parses command lines. Returns the help text when a line asks for it. @throws BaxError that names the line */
export function parseLines(lines: readonly string[], connection: Connection): readonly TypedCommand[] | string {
  try {
    return lines.flatMap((line) => parseLine(line, connection))
  } catch (error) {
    if (!isHelpWanted(error)) throw error
    return error.text(helpWidth).replace(terminalFlags, '').trimEnd()
  }
}

function parseLine(line: string, { manifest, options }: Connection): readonly TypedCommand[] {
  const { words, open } = splitWords(line.trim().replace(/^bax (?:do |step )?/, ''))
  const where = `in ${JSON.stringify(line)}`
  if (open) throw new BaxError('invalid_request', `a quote is not closed ${where}`)
  try {
    const { commands, flags } = parseBatch(words, manifest, noFiles, lineKind)
    const [flag] = Object.keys(flags)
    if (!commands || flag !== undefined)
      throw new BaxError('invalid_request', `${flag === undefined ? '"-"' : `--${flag}`} cannot be used here`)
    for (const { command, data, output } of commands) {
      const { family, bytes } = findEntry(command, manifest)!
      if (!options.families.has(family))
        throw new BaxError('feature_disabled', `${kebab(command)} is not enabled`, {
          hint: `the server must be started with the capability ${family}`,
        })
      if (output !== undefined || (bytes && data['path'] !== undefined))
        throw new BaxError('invalid_request', 'results cannot be written to files here', { hint: 'leave the path out' })
    }
    return commands
  } catch (error) {
    if (!(error instanceof BaxError)) throw error
    const hint = error.hint?.includes('bax ') ? 'add --help to a command for its fields' : error.hint
    throw new BaxError(error.code, `${error.message} ${where}`, { ...(hint && { hint }), cause: error })
  }
}

/** Options of the observation after a step. */
export interface Observing {
  readonly interactive_only?: boolean
  /** A new page is brief when missing. */
  readonly max_chars?: number | undefined
  /** Whether only changes are reported. */
  readonly diff: boolean
}

/** Runs commands in a session, and describes their results and effect. */
export async function runStep(
  { connection, signal }: ToolCall,
  session_id: string,
  typed: readonly TypedCommand[],
  { diff, max_chars, ...more }: Observing,
): Promise<ToolAnswer> {
  const commands = await withUploads(typed, session_id, connection)
  const include: Input<'observe'>['include'] = ['snapshot', 'tabs']
  const observe = { include, max_chars: max_chars ?? limits.mcp.viewChars, ...more }
  const brief = diff && max_chars === undefined
  const input = { session_id, commands, diff, brief, observe, ...connection.cause }
  const body = await connection.ask('browserStep', input, signal)
  const results = body.results.map((result, at) => describe(result, typed[at]!, connection))
  const effect = diff ? stepText(body) : ''
  const observed = body.observation && (!diff || body.full) ? observationText(body.observation, false) : ''
  const failed = failures(body)
  const warning = body.warning ?? ''
  const isCut = observed !== '' && diff && body.observation!.truncated
  return {
    text: [
      ...[...results, ...failed].flatMap(({ notes }) => notes),
      ...(isCut ? ['browser_observe reads the rest of the page'] : []),
    ].join('\n'),
    page: [...[...results, ...failed].flatMap(({ page }) => page), warning, effect, observed]
      .filter(Boolean)
      .join('\n'),
    links: results.flatMap(({ link }) => link ?? []),
    failed: !body.success,
  }
}

/** Uploads the local files that commands name. Clients of a server name files of the session. */
async function withUploads(typed: readonly TypedCommand[], session_id: string, { local, manifest, calls }: Connection) {
  const commands: TypedCommand[] = []
  for (const { command, data } of typed) {
    const entry = findEntry(command, manifest)
    const files = local && filesToUpload(entry, data, local.cwd)
    if (!local || !files) {
      commands.push({ command, data })
      continue
    }
    for (const file of files) {
      if (typeof file !== 'string' && !(await isInside(local.cwd, file.path)))
        throw new BaxError('permission_denied', `${file.path} is outside of ${local.cwd}`)
    }
    const names = await uploadFiles(files, session_id, { ...local, upload: calls.upload })
    commands.push({ command, data: { ...data, [entry!.localFiles!]: names } })
  }
  return commands
}

/** Describes the result of one command: notes of bax, text that the page controls, and a link to stored bytes. */
function describe(result: CommandResult, { command, data }: TypedCommand, { manifest, stored }: Connection) {
  const content = result.success ? contentOf(result, findEntry(command, manifest)) : undefined
  const uri =
    content && 'bytes' in content
      ? stored.add(kebab(command), result.content_type!, content.bytes.toString('base64'))
      : undefined
  return {
    notes: [
      ...matchesNotes(result, String(data['selector'])),
      ...(hasDismissed(result) ? ['run "dialog accept" first to accept it'] : []),
    ],
    page: [
      ...(content && 'text' in content && content.text !== '' ? [`${kebab(command)}: ${content.text}`] : []),
      ...warningNotes(result),
      ...downloadNotes(result, () => ''),
      ...dialogNotes(result),
    ],
    link: uri === undefined ? undefined : [{ uri, name: kebab(command), mimeType: result.content_type! }],
  }
}

const staleHint = 'use the new reference, which browser_observe returns'

/** Describes the failures of a step. Messages may contain text of the page, such as exceptions and values. */
function failures({ results }: StepResult): { readonly notes: readonly string[]; readonly page: readonly string[] }[] {
  return results
    .filter(({ success, skipped }) => !success && !skipped)
    .map(({ command, index, error, code, hint, details }) => {
      const nearest = nearestSelector({ details })
      const advice = code === 'stale_ref' ? staleHint : (hint ?? (nearest && `did you mean ${nearest}?`))
      const place = results.length > 1 ? ` (${index + 1} of ${results.length})` : ''
      const [own, ofPage] =
        !advice || advice.includes('bax ') ? [] : suggestion.test(advice) ? [undefined, advice] : [advice]
      return {
        notes: [`${kebab(command)}${place} failed [${code}]`, ...(own ? [`hint: ${own}`] : [])],
        page: [`${error}`, ...(ofPage ? [ofPage] : [])],
      }
    })
}

/** Runs one command; returns its data. @throws BaxError when it fails */
export async function oneCommand<Data = Record<string, unknown>>(
  { connection, signal }: Pick<ToolCall, 'connection' | 'signal'>,
  session_id: string,
  command: string,
  data: Readonly<Record<string, unknown>>,
): Promise<Data & { readonly content_type?: string }> {
  const input = { session_id, commands: [{ command, data }] }
  const body = await connection.ask('runCommands', input, signal)
  const [result] = body.results
  if (!result?.success) throw new PageFailure(result ?? body)
  return { ...(result.data as Data), content_type: result.content_type! }
}
