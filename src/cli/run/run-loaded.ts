/** Runs loaded scripts and reports the results. */
import { resolve } from 'node:path'
import type { Calls } from '../../client/calls.ts'
import { asBaxError, BaxError, errorTable, exits } from '../../core/errors/errors.ts'
import type { CommandsResult } from '../../core/shapes/commands.ts'
import type { Context } from '../context.ts'
import { locateEngine } from '../engine/locate-engine.ts'
import { type Io, note } from '../io.ts'
import { showBatch } from '../output/batch-output.ts'
import { withControlNotice } from '../output/control-notice.ts'
import { interruptedExit } from '../output/errors.ts'
import { showWarning } from '../output/output.ts'
import { writeOutput } from '../output/write-output.ts'
import { uploadFiles } from '../../client/upload-files.ts'
import { fileReader } from '../output/progress.ts'
import { type EngineTools, interrupted } from './call.ts'
import { shownPath } from './files.ts'
import { reportChecked, reportErrors } from './check-report.ts'
import { collectEvidence } from './evidence/collect-evidence.ts'
import type { RunOptions } from './options.ts'
import type { LoadedScripts } from './load.ts'
import { type Failure, failureOf, type RunReport, type ScriptReport, succeeded } from './report.ts'
import { openReporters } from './reporters/index.ts'
import type { Plan } from './script/plan.ts'
import { readScripts } from './script/script.ts'
import { makeMask, type Mask } from '../../core/access/mask.ts'
import { makeVerbs } from './script/verbs.ts'
import { runSuite } from './suite.ts'
import { type HealedSelector, updateSelectors } from './heal/update-selectors.ts'

/** Runs the scripts, or prints their errors; returns the exit code. @throws BaxError when they cannot be run */
export function runLoaded(scripts: LoadedScripts, options: RunOptions, context: Context): number | Promise<number> {
  const { io, settings } = context
  if (scripts.errors.length > 0) return reportErrors(scripts, io, settings.json)
  if (options.check) return reportChecked(scripts, io, settings.json)
  return runPlans(scripts, options, context)
}

async function runPlans({ mask, plans, runId }: LoadedScripts, options: RunOptions, context: Context): Promise<number> {
  const { manifest, settings } = context
  const io = masked(context.io, mask)
  // A run of plain bodies prints their results as `bax do` does.
  const onlyBodies = plans.length > 0 && plans.every(({ kind }) => kind === 'body')
  const showsBodies = options.reporters.some(({ name, file }) => name === 'line' && file === undefined)
  const choices = options.reporters.filter(({ name, file }) => !(onlyBodies && name === 'line' && file === undefined))
  const open = await openReporters(choices, io, mask)
  // A person approves with another command, or in the live view, which need an engine that they can reach.
  const home = locateEngine({ ...context, io }, { when: options.confirm || options.allowHandoff ? 'start' : 'ask' })
  const cleanup = startCleanupTimer(io.signal)
  let unsaved: BaxError | undefined
  const evidence = collectEvidence({
    folder: options.artifacts,
    replay: replayTarget(options.replay, plans),
    pictures: options.reporters.some(({ name }) => name === 'html'),
    cwd: io.cwd,
    mask,
    signal: cleanup.signal,
    onUnsaved: (error) => {
      unsaved ??= asBaxError(error)
    },
  })
  const healed: HealedSelector[] = []
  const showBody = async (answer: CommandsResult) => {
    await showBatch({ io, manifest, settings }, mask.deep(answer), null, new Date())
  }
  try {
    const report = await runSuite(plans, {
      ...options,
      runId,
      reporters: open.reporters,
      showBody: showsBodies ? showBody : undefined,
      tools: {
        engine: engineTools({ ...context, io }, home, mask, options.allowHandoff),
        pictures: { update: options.updateSnapshots ?? false, inCi: isCi(io), mask },
        evidence,
        records: options.replay !== undefined || options.artifacts !== undefined,
        headed: options.headed ?? false,
        confirm: options.confirm ?? [],
        onSession: options.onSession,
        healed,
        cwd: io.cwd,
        now: () => new Date(),
        signal: io.signal,
        cleanupSignal: cleanup.signal,
      },
    })
    if (onlyBodies && showsBodies) await describeBodies(report, io)
    if (options.update) reportUpdates(healed, io)
    if (io.signal.aborted) return interruptedExit(io)
    if (plans.length === 0) note(io, 'no scripts in this shard')
    return exitOf(report, unsaved, io)
  } catch (error) {
    throw maskedError(error, mask)
  } finally {
    cleanup.release()
    open.close()
    await home.transport.close()
  }
}

/** Prints what the results of commands do not say: why there are none, and files. */
async function describeBodies({ scripts }: RunReport, io: Io): Promise<void> {
  for (const { artifacts, failure, file, notes } of scripts) {
    if (failure) note(io, `error: ${file}: ${failure.message}`)
    for (const warning of notes) await showWarning(io, { warning })
    for (const path of artifacts) note(io, `saved ${path}`)
  }
}

/** The number of steps that passed, and why the next one failed. */
export interface Replay {
  readonly passed: number
  readonly failure?: Failure | undefined
  /** Why the steps could not be run, such as a session that could not be created. */
  readonly obstacle?: string | undefined
}

/** Runs a script in a new session, with selectors that match one element. @throws BaxError when it is invalid */
export async function replay(text: string, context: Context, engine: Calls): Promise<Replay> {
  const { io } = context
  const runId = 'replay'
  // A step that matches several elements, or needs its fingerprint, is not what was recorded.
  const options = {
    cwd: io.cwd,
    given: { env: io.env, runId },
    overrides: {},
    verbs: makeVerbs(),
    strict: true,
    checkOnly: false,
  }
  const { errors, plans } = readScripts(['recording.yaml'], { ...options, readFile: () => text })
  if (errors[0]) throw new BaxError('internal_error', `the recorded script is invalid: ${errors[0].message}`)
  const mask = makeMask(plans.flatMap(({ secrets }) => secrets))
  const cleanup = startCleanupTimer(io.signal)
  const tools = {
    engine: engineTools(context, engine, mask),
    pictures: { update: false, inCi: false, mask },
    evidence: collectEvidence({ pictures: false, cwd: io.cwd, mask, signal: cleanup.signal }),
    records: false,
    headed: false,
    confirm: [],
    healed: [],
    cwd: io.cwd,
    now: () => new Date(),
    signal: io.signal,
    cleanupSignal: cleanup.signal,
  }
  try {
    const { scripts } = await runSuite(plans, { runId, parallel: 1, retries: 0, reporters: [], tools })
    return outcomeOf(scripts[0])
  } finally {
    cleanup.release()
  }
}

function outcomeOf(report: ScriptReport | undefined): Replay {
  const failure = report?.steps.find(({ status }) => status === 'failed')?.failure
  const passed = report?.steps.filter(({ status }) => status === 'passed').length ?? 0
  if (failure?.code === interrupted.code) return { passed }
  return { passed, failure, obstacle: failure ? undefined : report?.failure?.message }
}

/** Returns the engine, and what its calls need of this terminal. */
const engineTools = ({ io }: Context, engine: Calls, mask: Mask, allowHandoff = false): EngineTools => ({
  ask: engine.ask,
  download: engine.download,
  showHandoff: allowHandoff
    ? ({ control_url, reason }) => note(io, `waiting for a person (${reason}): ${control_url}`)
    : undefined,
  reportingControl: (id, work) => withControlNotice(io, engine, id, work),
  writeFile: async (path, bytes) => {
    const target = resolve(io.cwd, mask.name(path))
    writeOutput(target, bytes)
    return target
  },
  uploadFiles: (files, sessionId) =>
    uploadFiles(files, sessionId, { read: fileReader(io), upload: engine.upload, signal: io.signal }),
  cwd: io.cwd,
})

/** Returns where replays are written. @throws BaxError `invalid_request` for one file and several scripts */
function replayTarget(replay: string | undefined, plans: readonly Plan[]): string | undefined {
  if (replay === undefined || replay.endsWith('/') || plans.length < 2) return replay
  throw new BaxError('invalid_request', `--replay ${replay} is one file for ${plans.length} scripts`, {
    hint: `name a folder: --replay ${replay.replace(/\.html$/, '')}/`,
  })
}

/** Replaces the selectors of elements that were found by their fingerprints. */
function reportUpdates(healed: readonly HealedSelector[], io: Context['io']): void {
  for (const [file, { count, diff, skipped }] of updateSelectors(healed)) {
    note(io, `updated ${count} ${count === 1 ? 'selector' : 'selectors'} in ${shownPath(file, io.cwd)}`)
    for (const { from, reason } of skipped) note(io, `did not update ${from}: ${reason}`)
    for (const { after, before, line } of diff) note(io, `${line} - ${before.trim()}\n${line} + ${after.trim()}`)
  }
}

const isCi = ({ env }: Context['io']): boolean => Boolean(env['CI']) && env['CI'] !== 'false'

function maskedError(error: unknown, mask: Mask): unknown {
  if (!(error instanceof BaxError)) return error
  const { code, message, hint } = error
  return new BaxError(code, mask.text(message), { ...(hint && { hint: mask.text(hint) }), cause: error })
}

/** Returns an Io whose outputs mask secrets. */
function masked(io: Context['io'], mask: Mask): Context['io'] {
  const maskedOutput = (output: Context['io']['stdout']): typeof output => {
    const value = (chunk: string | Uint8Array) => output.write(typeof chunk === 'string' ? mask.text(chunk) : chunk)
    return Object.create(output, { write: { value } })
  }
  return { ...io, stdout: maskedOutput(io.stdout), stderr: maskedOutput(io.stderr) }
}

/** Time for the cleanup after an interrupt: `finally` steps, logs, and closing sessions. */
const cleanupMs = 30_000

/** Returns a signal that is aborted `cleanupMs` after `interrupt`. `release` clears the timer. */
function startCleanupTimer(interrupt: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    timer = setTimeout(() => controller.abort(interrupt.reason), cleanupMs)
  }
  if (interrupt.aborted) start()
  else interrupt.addEventListener('abort', start, { once: true })
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer)
      interrupt.removeEventListener('abort', start)
    },
  }
}

function exitOf(report: RunReport, unsaved: BaxError | undefined, io: Io): number {
  const hasPassed = succeeded(report)
  if (hasPassed && !unsaved) return exits.done
  const code = hasPassed ? unsaved?.code : failureOf(report)
  if (!code) return exits.failed
  io.onFailure?.(code)
  return errorTable[code].exit
}
