/** Runs the command or operation of one step. */
import { mappingOf } from '../../core/text/is-mapping.ts'
import { type Calls, uncheckedFields } from '../../client/calls.ts'
import type { CallOptions } from '../../client/client.ts'
import { BaxError, messageOf } from '../../core/errors/errors.ts'
import { ofOneCommand } from '../../core/errors/one-command.ts'
import { untilHandoffEnds } from '../../client/handoff.ts'
import { handoffFailure } from '../../core/access/handoff-text.ts'
import type { HandoffRecord } from '../../core/access/handoffs.ts'
import { limits as coreLimits } from '../../core/limits/limits.ts'
import { formatFor } from '../../core/text/image-format.ts'
import type { CommandResult } from '../../core/shapes/commands.ts'
import type { CallAction } from './script/plan.ts'
import type { Failure } from './report.ts'
import { operations } from '../../operations/index.ts'
import { startsShell } from './script/verbs.ts'
import { dialogNotes, downloadNotes, matchesNotes, warningNotes } from '../../core/text/result-notes.ts'
import { filesToUpload, type NamedFiles } from '../../client/upload-files.ts'

/** The result of a step. */
export interface Outcome {
  /** Value for `save` and `expect`. */
  readonly value: unknown
  /** Screenshot that the step took, as PNG. */
  readonly png?: Uint8Array
  /** Notes about side effects, such as dismissed dialogs. */
  readonly notes?: readonly string[]
  /** Selector that matches nothing, and that of the element that was used instead. */
  readonly healed?: { readonly from: string; readonly to: string }
  /** Failure of the program that the step ran. */
  readonly programFailure?: Failure
}

/** The error of a failed step. */
export class StepFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** The failure of steps that the user interrupted. */
export const interrupted: Failure = { message: 'interrupted', code: 'interrupted' }

/** The engine, and what its calls need of this terminal. */
export interface EngineTools {
  readonly ask: Calls['ask']
  readonly download: Calls['download']
  /** Reports on stderr when the work waits because a person controls the session. */
  reportingControl<T>(sessionId: string | undefined, work: Promise<T>): Promise<T>
  /** Reports where a person takes over; undefined when scripts may not ask one. */
  readonly showHandoff?: ((handoff: HandoffRecord) => void) | undefined
  /** Writes a result to the file that a step names, on this machine; returns its path. */
  writeFile(path: string, bytes: Uint8Array): Promise<string>
  /** Uploads files of this machine to a session; returns their names there. */
  uploadFiles(files: NamedFiles, sessionId: string): Promise<string[]>
  /** Folder that paths of steps are relative to. */
  readonly cwd: string
}

/** A script's access to the engine: its own session and shell are the defaults of its steps. */
export interface EngineAccess extends EngineTools {
  sessionId(): string | undefined
  shellId: string | undefined
  /** Whether selectors that match several elements are refused. */
  readonly strict: boolean
}

interface CallLimits {
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}

/** The engine enforces timeouts of commands; this client waits longer, in case the engine does not answer. */
const graceMs = 2_000

/** Runs a step. @throws StepFailure */
export async function perform(
  { verb }: CallAction,
  data: Record<string, unknown>,
  engine: EngineAccess,
  limits: CallLimits,
): Promise<Outcome> {
  const isCommand = verb.http === null
  const cut =
    limits.timeoutMs === undefined ? undefined : AbortSignal.timeout(limits.timeoutMs + (isCommand ? 2 * graceMs : 0))
  const signal = cut ? AbortSignal.any([limits.signal, cut]) : limits.signal
  try {
    return isCommand
      ? await performCommand(verb, data, engine, { signal, timeoutMs: limits.timeoutMs })
      : await performOperation(verb, data, engine, { signal, strict: true })
  } catch (error) {
    if (limits.signal.aborted) throw new StepFailure(interrupted)
    if (error instanceof StepFailure) throw error
    // The engine did not answer, so the outcome is unknown.
    if (cut?.aborted) throw new StepFailure(tooLong(limits.timeoutMs!, { outcome: 'unknown' }))
    throw new StepFailure(failureOf(error))
  }
}

const tooLong = (ms: number, details?: Record<string, unknown>): Failure => ({
  message: `timed out after ${ms} ms`,
  code: 'timeout',
  details,
})

/** Converts any error to a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof StepFailure) return error.failure
  if (!(error instanceof BaxError)) return { message: messageOf(error), code: 'internal_error' }
  const { code, message, details, hint } = ofOneCommand(error)
  return { message: hint ? `${message} (${hint})` : message, code, details }
}

async function performCommand(
  verb: CallAction['verb'],
  data: Record<string, unknown>,
  engine: EngineAccess,
  { signal, timeoutMs }: CallLimits,
): Promise<Outcome> {
  const { name: command, pathField, bytes = '', schema } = verb
  const { [pathField ?? '']: path, ...given } = data
  const rest: Record<string, unknown> = {
    ...(await withUploads(verb, given, engine)),
    ...formatFor(bytes, given, path),
  }
  // The timeout error of a command says what the command waited for; that of the batch does not.
  const takesTimeout =
    timeoutMs !== undefined && Object.hasOwn(schema.shape, 'timeout_ms') && rest['timeout_ms'] === undefined
  const body = {
    session_id: engine.sessionId(),
    ...(engine.strict && { strict: true }),
    commands: [{ command, data: takesTimeout ? { ...rest, timeout_ms: timeoutMs } : rest }],
    ...(timeoutMs !== undefined && {
      timeout_ms: Math.min(timeoutMs + (takesTimeout ? graceMs : 0), coreLimits.command.batchMs),
    }),
  }
  const sending = engine.ask('runCommands', uncheckedFields(body), { signal, strict: true })
  const { results } = await engine.reportingControl(body.session_id, sending)
  const result = results[0]!
  if (!result.success) {
    const { error = 'failed', code = 'action_failed', details } = result
    const isStepTimeout = code === 'timeout' && timeoutMs !== undefined && /batch/.test(error)
    throw new StepFailure(isStepTimeout ? tooLong(timeoutMs, details) : { message: error, code, details })
  }
  const outcome = { ...outcomeOfCommand(result), notes: notesOf(result, String(rest['selector'] ?? 'the selector')) }
  const encoded = result.data?.[bytes]
  if (typeof path !== 'string' || typeof encoded !== 'string') return outcome
  const written = await engine.writeFile(path, Buffer.from(encoded, 'base64'))
  return { ...outcome, value: { ...result.data, path: written } }
}

const notesOf = (result: CommandResult, selector: string): string[] => [
  ...downloadNotes(result, () => ''),
  ...matchesNotes(result, selector),
  ...warningNotes(result),
  ...dialogNotes(result, 'add the step "answer_dialog: true" before this one to accept it'),
]

/** Uploads the local files that a command names, and replaces them by their names in the session. */
async function withUploads(
  verb: CallAction['verb'],
  data: Record<string, unknown>,
  engine: EngineAccess,
): Promise<Record<string, unknown>> {
  const files = filesToUpload(verb, data, engine.cwd)
  const sessionId = engine.sessionId()
  if (!files || sessionId === undefined) return data
  return { ...data, [verb.localFiles!]: await engine.uploadFiles(files, sessionId) }
}

/** Returns the extracted value, the content, or the data of a command. */
export function outcomeOfCommand({ content_type, data }: CommandResult): Outcome {
  if (content_type === 'data') return { value: mappingOf(data?.['result'])['value'] ?? null }
  if (data && Object.hasOwn(data, 'content')) return { value: data['content'] }
  return { value: data ?? null, png: content_type === 'image/png' ? screenshotIn(data) : undefined }
}

function screenshotIn(value: unknown): Uint8Array | undefined {
  const { screenshot, data } = mappingOf(value)
  const encoded = screenshot ?? mappingOf(data)['screenshot']
  if (typeof encoded !== 'string') return undefined
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.subarray(1, 4).toString() === 'PNG' ? bytes : undefined
}

async function performOperation(
  verb: CallAction['verb'],
  data: Record<string, unknown>,
  engine: EngineAccess,
  options: CallOptions,
): Promise<Outcome> {
  if (verb.http === operations.requestHandoff.http && !engine.showHandoff) throw new StepFailure(noHandoff)
  const own = verb.uses === 'shell' ? engine.shellId : verb.uses === 'browser' ? engine.sessionId() : undefined
  const input = own !== undefined && data['session_id'] === undefined ? { ...data, session_id: own } : data
  const answer = (await engine.ask({ http: verb.http! }, uncheckedFields(input), options)) ?? null
  const value = verb.http === operations.requestHandoff.http ? await waitForPerson(answer, engine, options) : answer
  const body = mappingOf(value)
  if (startsShell(verb)) engine.shellId = String(body['session_id'] ?? body['id'])
  if (body['success'] === false) throw new StepFailure(failureIn(body))
  const notes = typeof body['warning'] === 'string' ? [`warning: ${body['warning']}`] : []
  return { value, png: screenshotIn(value), programFailure: programFailureOf(body), notes }
}

/** Returns the failure of an operation whose response reports one, with what it did before. */
function failureIn(body: Readonly<Record<string, unknown>>): Failure {
  const { error, code, details, output, calls = 0, steps_completed: done = 0 } = body
  // A code that ended with the failure of its only call has done what that call has.
  const isOfCall = code !== 'code_failed' && mappingOf(details)['limit'] === undefined
  const hasActed = Number(done) > 0 || Number(calls) > (isOfCall ? 1 : 0)
  return {
    message: String(error ?? 'failed') + lastLines(output, '\nprinted: '),
    code: String(code ?? 'action_failed'),
    details: hasActed ? { ...mappingOf(details), delivered: true } : (details ?? undefined),
  }
}

/** Returns the end of an output behind a label; an empty text if there is none. */
function lastLines(output: unknown, label: string): string {
  const lines = typeof output === 'string' ? output.trim().split('\n').slice(-5).join('\n') : ''
  return lines && label + lines
}

const noHandoff: Failure = {
  message: 'a script asks a person only with --allow-handoff (run it where somebody can take over)',
  code: 'feature_disabled',
}

/** Waits until the person has finished. @throws BaxError when they have not */
async function waitForPerson(answer: unknown, { ask, showHandoff }: EngineAccess, options: CallOptions) {
  const asked = answer as HandoffRecord
  showHandoff?.(asked)
  const ended = await untilHandoffEnds({ ask }, asked, options.signal)
  const failure = handoffFailure(ended)
  if (failure) throw failure
  return ended
}

/** Returns the failure of a program that timed out or did not exit with 0. */
function programFailureOf({ exit_code, timed_out, stderr }: Record<string, unknown>): Failure | undefined {
  if (timed_out === true) return { message: 'the program timed out and was stopped', code: 'timeout' }
  if (typeof exit_code !== 'number' || exit_code === 0) return undefined
  const message = `the program ended with exit code ${exit_code}${lastLines(stderr, ': ')}`
  return { message, code: 'action_failed', actual: exit_code }
}
