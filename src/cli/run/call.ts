/** Runs what one step asks for, and says what came of it. */
import { setTimeout as pause } from 'node:timers/promises'
import { type CallOptions, call, type Client } from '../../client/client.ts'
import type { Transport } from '../../client/transport.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits as coreLimits } from '../../core/limits/limits.ts'
import type { CommandResult } from '../../core/shapes/commands.ts'
import type { CallAction } from './script/plan.ts'
import type { Failure } from './report.ts'
import { startsShell } from './script/verbs.ts'

/** What a step worked on and what it got. */
export interface Outcome {
  /** What `save` keeps and `expect` looks at. */
  readonly value: unknown
  /** A PNG that the step took. */
  readonly png?: Uint8Array
  /** Whether the program that the step ran said that it failed. */
  readonly complaint?: Failure
}

/** A step that did not do what it should. */
export class StepFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** The user stopped the run. */
export const interrupted: Failure = { message: 'interrupted', code: 'interrupted' }

/** The engine as a script sees it: its own session and shell stand in where a step names none. */
export interface Reach {
  readonly client: Client
  readonly transport: Transport
  sessionId(): string | undefined
  shellId: string | undefined
  /** Refuse selectors that match several elements. */
  readonly strict: boolean
  /** Reports on stderr when the work on a session waits for a person. */
  reportingControl<T>(sessionId: string | undefined, work: Promise<T>): Promise<T>
  /** Writes a picture that a step names a file for, on this machine and not on the engine's; returns where it is. */
  keepPicture(path: string, png: Uint8Array): Promise<string>
}

export interface CallLimits {
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}

/** The engine cuts a command at its time itself; only an engine that does not answer is cut from here. */
const graceMs = 2_000

/** @throws StepFailure */
export async function perform(
  { verb }: CallAction,
  data: Record<string, unknown>,
  reach: Reach,
  limits: CallLimits,
): Promise<Outcome> {
  const isCommand = verb.call.kind === 'command'
  const cut =
    limits.timeoutMs === undefined ? undefined : AbortSignal.timeout(limits.timeoutMs + (isCommand ? 2 * graceMs : 0))
  const signal = cut ? AbortSignal.any([limits.signal, cut]) : limits.signal
  try {
    return isCommand
      ? await performCommand(verb, data, reach, { signal, timeoutMs: limits.timeoutMs })
      : await performOperation(verb, data, reach, { signal, strict: true })
  } catch (error) {
    if (limits.signal.aborted) throw new StepFailure(interrupted)
    if (error instanceof StepFailure) throw error
    // The engine does not answer: what it has done by now is not known.
    if (cut?.aborted) throw new StepFailure(tooLong(limits.timeoutMs!, { outcome: 'unknown' }))
    throw new StepFailure(failureOf(error))
  }
}

const tooLong = (ms: number, details?: Record<string, unknown>): Failure => ({
  message: `took longer than its ${ms} ms`,
  code: 'timeout',
  ...(details && { details }),
})

/** What a refused call says. */
export function failureOf(error: unknown): Failure {
  if (error instanceof StepFailure) return error.failure
  if (!(error instanceof BaxError)) return { message: (error as Error).message, code: 'internal_error' }
  const { code, details, hint } = error
  // The batch of one is ours; the writer of the script knows its fields only.
  const message = error.message.replaceAll('commands[0].data.', '')
  return { message: hint ? `${message} (${hint})` : message, code, ...(details && { details }) }
}

async function performCommand(
  { name: command, pictureField, schema }: CallAction['verb'],
  data: Record<string, unknown>,
  reach: Reach,
  { signal, timeoutMs }: CallLimits,
): Promise<Outcome> {
  const { [pictureField ?? '']: path, ...rest } = data
  // A command that knows its time says what it waited for; the batch would only say that it is over.
  const knowsTime =
    timeoutMs !== undefined && Object.hasOwn(schema.shape, 'timeout_ms') && rest['timeout_ms'] === undefined
  const body = {
    session_id: reach.sessionId(),
    ...(reach.strict && { strict: true }),
    commands: [{ command, data: knowsTime ? { ...rest, timeout_ms: timeoutMs } : rest }],
    ...(timeoutMs !== undefined && {
      timeout_ms: Math.min(timeoutMs + (knowsTime ? graceMs : 0), coreLimits.command.batchMs),
    }),
  }
  const sending = reach.client.runCommands(body, { signal, strict: true })
  const { results } = await reach.reportingControl(body.session_id, sending)
  const [result] = results as [CommandResult]
  if (!result.success) {
    const { error = 'failed', code = 'action_failed', details } = result
    const isOurs = code === 'timeout' && timeoutMs !== undefined && /batch/.test(error)
    throw new StepFailure(isOurs ? tooLong(timeoutMs, details) : { message: error, code, ...(details && { details }) })
  }
  const outcome = outcomeOfCommand(result)
  if (typeof path !== 'string' || !outcome.png) return outcome
  return { ...outcome, value: { ...result.data, path: await reach.keepPicture(path, outcome.png) } }
}

/** What a result entry is about: the extracted value, the content, or the data of the command. */
export function outcomeOfCommand({ content_type, data }: CommandResult): Outcome {
  if (content_type === 'data') return { value: (data?.['result'] as { value?: unknown } | undefined)?.value ?? null }
  if (data && Object.hasOwn(data, 'content')) return { value: data['content'] }
  const png = content_type === 'image/png' ? pictureIn(data) : undefined
  return { value: data ?? null, ...(png && { png }) }
}

function pictureIn(value: unknown): Uint8Array | undefined {
  const { screenshot, data } = (value ?? {}) as { screenshot?: unknown; data?: { screenshot?: unknown } }
  const picture = screenshot ?? data?.screenshot
  if (typeof picture !== 'string') return undefined
  const bytes = Buffer.from(picture, 'base64')
  return bytes.subarray(1, 4).toString() === 'PNG' ? bytes : undefined
}

async function performOperation(
  verb: CallAction['verb'],
  data: Record<string, unknown>,
  reach: Reach,
  options: CallOptions,
): Promise<Outcome> {
  const { http } = verb.call as { http: string }
  const own = verb.uses === 'shell' ? reach.shellId : verb.uses === 'browser' ? reach.sessionId() : undefined
  const input = own !== undefined && data['session_id'] === undefined ? { ...data, session_id: own } : data
  const value = (await call(reach.transport, http, input, options)) ?? null
  const body = (value ?? {}) as Record<string, unknown>
  if (startsShell(verb)) reach.shellId = String(body['session_id'] ?? body['id'])
  if (body['success'] === false) {
    const { error, code, details } = body
    throw new StepFailure({
      message: String(error ?? 'failed'),
      code: String(code ?? 'action_failed'),
      ...(details ? { details } : {}),
    })
  }
  const png = pictureIn(value)
  const complaint = complaintOf(body)
  return { value, ...(png && { png }), ...(complaint && { complaint }) }
}

/** A program that ended with another code than 0, or was stopped. */
function complaintOf({ exit_code, timed_out, stderr }: Record<string, unknown>): Failure | undefined {
  if (timed_out === true) return { message: 'the program took too long and was stopped', code: 'timeout' }
  if (typeof exit_code !== 'number' || exit_code === 0) return undefined
  const said = typeof stderr === 'string' ? stderr.trim().split('\n').slice(-5).join('\n') : ''
  return {
    message: `the program ended with exit code ${exit_code}${said ? `: ${said}` : ''}`,
    code: 'action_failed',
    actual: exit_code,
  }
}

/** Waits between two tries; ends early, without an error, when the run is interrupted. */
export async function waitBetween(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
