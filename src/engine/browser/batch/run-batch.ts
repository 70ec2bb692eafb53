/** Runs batches of commands on a session, with one result per command. */
import type { Locator, Page } from 'playwright'
import { catalogue } from '../../../commands/index.ts'
import type { Caller } from '../../../core/access/caller.ts'
import type { Command, CommandContext, StructuredRequest } from '../../../core/operation/command.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { CommandBatch, CommandCall, CommandResult, CommandsResult } from '../../../core/shapes/commands.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { PausableTimeout } from '../../../core/process/pausable-timeout.ts'
import { passkeyUseOf } from '../credentials/passkey-use.ts'
import { secretsOf } from '../credentials/session-secrets.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { dialogsSince } from './command-dialogs.ts'
import { clipboardOf } from '../clipboard/clipboard.ts'
import type { ActionContext } from '../elements/act.ts'
import { makeContext } from './command-context.ts'
import { untilCommitted, untilUninterrupted } from './document-change.ts'
import { unlessCrashed } from '../tabs/crash.ts'
import { Delivery } from '../input/delivery.ts'
import { failureOf } from '../page/playwright-errors.ts'

/** Tools of the engine that commands use besides the browser. */
export interface BatchTools {
  /** Converts the page, or one element of it, to Markdown. */
  markdown(page: Page, warn: (text: string) => void, element?: Locator): Promise<string>
  structured(page: Page, request: StructuredRequest): ReturnType<CommandContext['structured']>
  /** Returns where a value does not fit a JSON schema. @throws BaxError `invalid_request` for an invalid schema */
  schemaErrors(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string[]>
  /** Caller of the batch; missing in the browsers of users. */
  readonly caller?: Caller
}

/** Hooks that run before and after every command. */
export interface BatchWatch {
  before(index: number): Promise<void>
  after(index: number): Promise<void>
}

/**
 * Runs the commands in order and stops at the first failure unless `continue_on_error` is set. Failures of commands
 * are results, not exceptions. Stops early, and skips the rest, when the batch times out, the caller disconnects
 * (`signal`) or the session ends.
 */
export async function runBatch(
  target: BatchTarget,
  batch: CommandBatch,
  tools: BatchTools,
  signal: AbortSignal,
  watch?: BatchWatch,
): Promise<Omit<CommandsResult, 'session_id'>> {
  const started = performance.now()
  // Every command may wait for a person.
  const approvalMs = (target.approvals?.timeoutMs ?? 0) * batch.commands.length
  const batchMs = batch.timeout_ms ?? limits.command.batchMs + approvalMs
  const stop = stopSignal([signal, target.ended], batchMs)
  const results: CommandResult[] = []
  let failed: CommandResult | undefined
  try {
    for (const [index, call] of batch.commands.entries()) {
      const isOver = stop.signal.aborted || (failed !== undefined && !batch.continue_on_error)
      if (!isOver) await watch?.before(index)
      const isSkipped = isOver && failed !== undefined
      const record = await target.replay?.begin(call, !isSkipped)
      const step = { target, tools, stop: stop.signal, batch, call, index }
      const result = isSkipped ? skipped(call, index) : await runOne(step)
      await record?.(result)
      if (!isOver) await watch?.after(index)
      failed ??= result.success ? undefined : result
      results.push(result)
    }
  } finally {
    stop.release()
  }
  return {
    success: failed === undefined,
    steps_completed: results.filter(({ success }) => success).length,
    total_steps: results.length,
    duration_ms: Math.round(performance.now() - started),
    results,
    ...(failed && { error: failed.error, code: failed.code }),
  }
}

/** Combines signals into one with a BaxError. `AbortSignal.any` would leak: sessions outlive thousands of batches. */
function stopSignal(signals: readonly AbortSignal[], batchMs: number) {
  const stop = new AbortController()
  const onTimeout = () => stop.abort(new BaxError('timeout', `the batch timed out after ${batchMs} ms`))
  const timer = setTimeout(onTimeout, batchMs)
  const onAbort = (event: Event) => stop.abort(stopReason(event.target as AbortSignal))
  for (const signal of signals) {
    if (signal.aborted) stop.abort(stopReason(signal))
    else signal.addEventListener('abort', onAbort, { once: true })
  }
  return {
    signal: stop.signal,
    release() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
    },
  }
}

const stopReason = (signal: AbortSignal): BaxError =>
  signal.reason instanceof BaxError
    ? signal.reason
    : new BaxError('timeout', 'the caller disconnected before the batch was done', { cause: signal.reason })

interface Step {
  readonly target: BatchTarget
  readonly tools: BatchTools
  /** Aborted with a BaxError when the batch has to stop. */
  readonly stop: AbortSignal
  readonly batch: CommandBatch
  readonly call: CommandCall
  readonly index: number
}

async function runOne({ target, tools, stop, batch, call, index }: Step): Promise<CommandResult> {
  const { strict = false, context: metadata } = batch
  const command = catalogue.get(call.command)
  const head = headOf(call, index)
  const started = performance.now()
  const duration = () => Math.round(performance.now() - started)
  target.events.emit('command.started', { command: call.command, index, ...(metadata && { context: metadata }) })
  const { lastSeq: seq } = target.events
  const delivery = command?.input && new Delivery(command.input)
  const mark = target.downloads?.mark()
  const approvals = target.approvals?.begin({ command: call.command, context: metadata }, stop)
  const { several, way, warnings, ...listeners } = actionFacts()
  const entry = command && (await target.journal?.begin(call, target.activePage, !target.dialogs.answerable))
  let result: CommandResult
  try {
    if (!command) throw new BaxError('unknown_command', `unknown command ${JSON.stringify(call.command)}`)
    target.checkAllowed?.(call)
    const ms = timeoutOf(command, call.data)
    const deadline = { ms, error: `${call.command} timed out after ${ms} ms: the page does not answer`, signal: stop }
    const running = { command, call, batch, target, tools, delivery, strict, describe: entry?.describe, ...listeners }
    const work = () =>
      untilStopped(target, deadline, async (signal, clock) => {
        await passkeyUseOf(target.browserContext).restore?.()
        return perform(running, signal, clock)
      })
    const outcome = await (approvals?.through(
      work,
      async (asked) => mark && target.downloads?.since(mark, 'possible', asked),
    ) ?? work())
    result = {
      success: true,
      ...head,
      duration_ms: duration(),
      ...several,
      ...(await dialogsSince(target, seq)),
      ...outcome,
      ...warningOf([...warnings, ...rejectionsOf(delivery)]),
    }
  } catch (thrown) {
    const failed = await failureOf(thrown, call.command, target)
    result = {
      success: false,
      ...head,
      duration_ms: duration(),
      ...several,
      ...(await dialogsSince(target, seq)),
      ...failureFields(delivery ? await delivery.describe(failed) : failed),
    }
  }
  approvals?.end()
  const chance = result.success ? 'possible' : result.code === 'navigation_aborted' ? 'aborted' : 'none'
  const downloads = mark && (await target.downloads?.since(mark, chance, stop))
  if (downloads?.length) result = { ...result, duration_ms: duration(), downloads }
  result = secretsOf(target.browserContext).hideInResult(result)
  await entry?.end(result, target.activePage)
  const { success, duration_ms, error, code } = result
  const failure = !success && { error, code }
  target.events.emit('command.finished', { command: call.command, index, success, duration_ms, ...way, ...failure })
  return result
}

interface Running extends Pick<ActionContext, 'delivery' | 'strict' | 'onMatches' | 'onDirect' | 'describe'> {
  readonly warn: (text: string) => void
  readonly command: Command
  readonly call: CommandCall
  readonly batch: CommandBatch
  readonly target: BatchTarget
  readonly tools: BatchTools
}

/** Runs a command on the active tab. */
async function perform(running: Running, signal: AbortSignal, clock: PausableTimeout) {
  const { command, call, batch, target, ...parts } = running
  const page = await target.page()
  if (!command.worksDuringDialog) await readyFor(running, page, signal)
  const gate = target.approvals?.gate({ command: call.command, context: batch.context }, signal, clock)
  const acts = command.kind === 'action' && !command.waits
  const context = await makeContext({ page, target, signal, acts, gate, clock, ...parts })
  const once = async () => command.run(context, call.data ?? {})
  const repeats = command.kind === 'extraction' ? !command.runsCode : command.waits === true
  const run = () => unlessCrashed(page, () => (repeats ? untilUninterrupted(page, once, signal) : once()))
  if (command.worksDuringDialog) return run()
  const outcome = await target.dialogs.unlessBlocked(page, call.command, run)
  await readReaction(command, call, parts.delivery)
  // Pages paste asynchronously.
  if (command.input?.kind === 'text') await clipboardOf(target.browserContext).settled()
  return outcome
}

/** Asks the page whether it has rejected a form, after input that can submit one; clicks on elements have asked. */
async function readReaction({ input, maySubmit }: Command, { data }: CommandCall, delivery?: Delivery): Promise<void> {
  const isSubmitting = input?.kind === 'press' || maySubmit?.(data ?? {})
  if (isSubmitting && !delivery?.rejected) await delivery?.readReaction()
}

const rejectionsOf = (delivery?: Delivery): string[] =>
  delivery?.rejected?.length ? [`the browser did not accept the form: ${delivery.rejected.join('; ')}`] : []

const warningOf = (warnings: readonly string[]): Pick<CommandResult, 'warning'> =>
  warnings.length > 0 ? { warning: warnings.join('; ') } : {}

/** Waits for the document that a command is for. @throws BaxError when a dialog prevents the command. */
async function readyFor({ command, call, target }: Running, page: Page, signal: AbortSignal): Promise<void> {
  target.dialogs.checkOpen(page, call.command)
  if (command.leaves) return
  const ready = () => untilCommitted(page, signal, { timeoutMs: call.data?.['timeout_ms'], input: command.input })
  await target.dialogs.unlessBlocked(page, call.command, ready)
}

/** Returns the fields of a result for a failure. */
function failureFields({ message, code, hint, details }: BaxError) {
  const facts = details && !Array.isArray(details) ? (details as Record<string, unknown>) : null
  return { error: message, code, ...(hint && { hint }), ...(facts && { details: facts }) }
}

/** Collects facts about the actions of a command: the largest number of matches, and whether Playwright was needed. */
function actionFacts() {
  const several: Pick<CommandResult, 'matches' | 'used_match'> = {}
  const way: { direct?: true } = {}
  const warnings: string[] = []
  const onMatches: ActionContext['onMatches'] = ({ matches, which }) => {
    if (matches > (several.matches ?? 1)) Object.assign(several, { matches, used_match: which })
  }
  return {
    several,
    way,
    warnings,
    onMatches,
    onDirect: () => void (way.direct = true),
    warn: (text: string) => void warnings.push(text),
  }
}

/** Time for an aborted command to finish its work on the page. */
const abortMs = 1500

/** Returns the timeout of a command; commands without a timeout option make only short calls to the page. */
function timeoutOf(command: Command, data: CommandCall['data']): number {
  const { evaluateMs } = limits.command
  if (command.maxDurationMs !== undefined) return command.maxDurationMs
  // A command that handles its own timeout needs more time to report why it failed.
  return 'timeout_ms' in command.data.shape ? Number(data?.['timeout_ms'] ?? evaluateMs) + evaluateMs : evaluateMs
}

/** Runs `work` with a signal that is aborted at the end in any case, so that nothing of it acts on the page later. */
async function untilStopped<T>(
  { ended }: BatchTarget,
  deadline: { ms: number; error: string; signal: AbortSignal },
  work: (signal: AbortSignal, clock: PausableTimeout) => Promise<T>,
): Promise<T> {
  const { ms, error, signal: stop } = deadline
  const clock = new PausableTimeout(ms, () => new BaxError('timeout', error))
  let running: Promise<unknown> = Promise.resolve()
  try {
    return await withDeadline((signal) => (running = work(signal, clock)), { signal: [stop, clock.signal] })
  } catch (thrown) {
    // The next batch must find the page idle, unless the session has ended. The outcome no longer counts.
    if (!ended.aborted) await withDeadline(running, { ms: abortMs }).catch(() => {})
    throw thrown
  } finally {
    clock.stop()
  }
}

const headOf = ({ command }: CommandCall, index: number) => ({
  command_type: catalogue.get(command)?.kind ?? ('action' as const),
  command,
  index,
})

const skipped = (call: CommandCall, index: number): CommandResult => ({
  success: false,
  ...headOf(call, index),
  skipped: true,
  error: 'skipped after a failed command',
  code: 'skipped',
})

/** Returns whether a batch only answers dialogs. */
export const isAnswer = ({ commands }: CommandBatch): boolean =>
  commands.every(({ command }) => command === 'answer_dialog')
