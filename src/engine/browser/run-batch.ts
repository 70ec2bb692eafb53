/** Runs a batch of commands against a session, one result entry for each. */
import type { Locator, Page } from 'playwright'
import { catalogue } from '../../commands/index.ts'
import type { StructuredRequest } from '../../core/command.ts'
import { BaxError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { CommandBatch, CommandCall, CommandResult, CommandsResult } from '../../core/shapes/commands.ts'
import type { BatchTarget } from './batch-target.ts'
import { makeContext } from './command-context.ts'
import { failureOf } from './playwright-errors.ts'

/** What the engine lends to commands beside the browser. */
export interface BatchTools {
  /** Markdown of the page, or of one element of it. */
  markdown(page: Page, element?: Locator): Promise<string>
  structured(
    page: Page,
    request: StructuredRequest,
  ): Promise<{ value: unknown; source: 'model' | 'heuristic'; valid: boolean; errors: string[] }>
}

/** Hears of every command that is run, before and after it. */
export interface BatchWatch {
  before(index: number): Promise<void>
  after(index: number): Promise<void>
}

/**
 * Runs the commands in order and stops at the first failure unless `continue_on_error` is set. Never throws for what
 * a command does: failures are entries. Ends early, with the rest skipped, when the batch's time is over, the caller
 * goes away (`signal`) or the session ends.
 */
export async function runBatch(
  target: BatchTarget,
  batch: CommandBatch,
  tools: BatchTools,
  signal: AbortSignal,
  watch?: BatchWatch,
): Promise<Omit<CommandsResult, 'session_id'>> {
  const started = performance.now()
  const batchMs = batch.timeout_ms ?? limits.command.batchMs
  const stop = stopSignal([signal, target.ended], batchMs)
  const results: CommandResult[] = []
  let failed: CommandResult | undefined
  try {
    for (const [index, call] of batch.commands.entries()) {
      const over = stop.signal.aborted || (failed !== undefined && !batch.continue_on_error)
      const step: Step = { target, tools, stop, call, index, ...(batch.context && { context: batch.context }) }
      if (!over) await watch?.before(index)
      const result = over && failed ? skipped(call, index) : await runOne(step)
      if (!over) await watch?.after(index)
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

interface Stop {
  readonly signal: AbortSignal
  /** Rejects with a BaxError once the batch may not go on. */
  readonly rejected: Promise<never>
  release(): void
}

function stopSignal(signals: readonly AbortSignal[], batchMs: number): Stop {
  const timer = new AbortController()
  const handle = setTimeout(
    () => timer.abort(new BaxError('timeout', `the batch took longer than its ${batchMs} ms`)),
    batchMs,
  )
  const signal = AbortSignal.any([...signals, timer.signal])
  let listener: () => void
  const rejected = new Promise<never>((_, reject) => {
    listener = () => reject(stopReason(signal))
    if (signal.aborted) listener()
    else signal.addEventListener('abort', listener, { once: true })
  })
  // The same rejection is raced by every command; between two of them nobody listens.
  rejected.catch(() => {})
  return {
    signal,
    rejected,
    release() {
      clearTimeout(handle)
      signal.removeEventListener('abort', listener)
    },
  }
}

const stopReason = (signal: AbortSignal): BaxError =>
  signal.reason instanceof BaxError
    ? signal.reason
    : new BaxError('timeout', 'the caller went away before the batch was done', { cause: signal.reason })

interface Step {
  readonly target: BatchTarget
  readonly tools: BatchTools
  readonly stop: Stop
  readonly call: CommandCall
  readonly index: number
  readonly context?: Record<string, unknown>
}

async function runOne({ target, tools, stop, call, index, context: metadata }: Step): Promise<CommandResult> {
  const command = catalogue.get(call.command)
  const head = { command_type: command?.kind ?? ('action' as const), command: call.command, index }
  const started = performance.now()
  const duration = () => Math.round(performance.now() - started)
  target.events.emit('command.started', { command: call.command, index, ...(metadata && { context: metadata }) })
  // Aborted when this command is over, whatever ended it: nothing that it began may act on the page later.
  const over = new AbortController()
  const signal = AbortSignal.any([stop.signal, over.signal])
  let result: CommandResult
  try {
    if (!command) throw new BaxError('unknown_command', `unknown command ${JSON.stringify(call.command)}`)
    stop.signal.throwIfAborted()
    const work = makeContext({ target, tools, signal, acts: mayNavigate(command.kind, call.command) }).then((context) =>
      command.run(context, (call.data ?? {}) as never),
    )
    const outcome = await Promise.race([work, stop.rejected])
    result = { success: true, ...head, duration_ms: duration(), ...outcome }
  } catch (thrown) {
    const error = await failureOf(thrown, call.command, target)
    const details = error.details && !Array.isArray(error.details) ? (error.details as Record<string, unknown>) : null
    result = {
      success: false,
      ...head,
      duration_ms: duration(),
      error: error.message,
      code: error.code,
      ...(details && { details }),
    }
  } finally {
    over.abort()
  }
  const { success, duration_ms, error, code } = result
  target.events.emit('command.finished', {
    command: call.command,
    index,
    success,
    duration_ms,
    ...(!success && { error, code }),
  })
  return result
}

/** A wait belongs to the action before it. */
const mayNavigate = (kind: string, name: string) => kind === 'action' && !name.startsWith('wait_for_')

function skipped(call: CommandCall, index: number): CommandResult {
  return {
    success: false,
    command_type: catalogue.get(call.command)?.kind ?? 'action',
    command: call.command,
    index,
    skipped: true,
    error: 'skipped after a failed command',
    code: 'skipped',
  }
}
