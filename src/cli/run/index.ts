/** `bax run`: reads scripts, runs them when all are valid, and reports the results. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createClient } from '../../client/client.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { CommandsResult } from '../../core/shapes/commands.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { showBatch } from '../output/batch-output.ts'
import type { Context } from '../context.ts'
import { withControlNotice } from '../output/control-notice.ts'
import { interruptedExit } from '../output/errors.ts'
import { locateEngine } from '../engine/locate-engine.ts'
import { note, print } from '../io.ts'
import { collectEvidence } from './evidence.ts'
import { renderErrors } from './script/script-errors.ts'
import { writeOutput } from '../output/write-output.ts'
import { findScripts, type Shard, shardOf } from './files.ts'
import { countSteps, type Plan } from './script/plan.ts'
import { openReporters, type ReporterChoice } from './reporters/index.ts'
import { counted } from '../output/counted.ts'
import { exitOfFailure, succeeded } from './report.ts'
import { makeMask, type Mask } from './script/secrets.ts'
import { type ReadScripts, readScripts } from './script/script.ts'
import { runSuite } from './suite.ts'
import { makeVerbs } from './script/verbs.ts'

/** The options of the command line. */
export interface RunOptions {
  readonly files: readonly string[]
  readonly vars: Readonly<Record<string, string>>
  readonly reporters: readonly ReporterChoice[]
  readonly parallel: number
  readonly retries: number
  readonly failFast?: boolean
  readonly check?: boolean
  readonly strict?: boolean
  readonly updateSnapshots?: boolean
  readonly artifacts?: string
  readonly shard?: Shard
}

/** Returns the JSON Schema of scripts as text. */
export async function scriptSchemaText(): Promise<string> {
  const { scriptSchema } = await import('./script/schema-document.ts')
  return JSON.stringify(scriptSchema(makeVerbs()), null, 2)
}

/** Runs scripts; returns the exit code. @throws BaxError when they cannot be run. */
export async function runScripts(options: RunOptions, context: Context): Promise<number> {
  const { io } = context
  const found = await findScripts(options.files, io.cwd)
  const files = options.shard ? shardOf(found, options.shard) : found
  const runId = `run_${randomBytes(9).toString('base64url')}`
  const read = readScripts(files, {
    cwd: io.cwd,
    given: { env: io.env, runId },
    overrides: options.vars,
    verbs: makeVerbs(),
    strict: options.strict ?? false,
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  const mask = makeMask(read.plans.flatMap(({ secrets }) => secrets))
  const problems = renderProblems(read, options, files)
  if (problems !== undefined) {
    io.stderr.write(mask.text(problems))
    return exits.usage
  }
  if (options.check) {
    for (const plan of read.plans) print(io, `${plan.file}: ${counted(stepsOf(plan), 'step')}, no errors`)
    return exits.done
  }
  return runPlans(read.plans, runId, mask, options, context)
}

const stepsOf = (plan: Plan): number => (plan.kind === 'script' ? countSteps(plan.block) : plan.places.length)

/** Returns all errors of the scripts and `--var` as text; undefined when there are none. */
function renderProblems(
  { errors, variables }: ReadScripts,
  { vars }: RunOptions,
  files: readonly string[],
): string | undefined {
  const unknown = Object.keys(vars).filter((name) => files.length > 0 && !variables.has(name))
  const lines = unknown.map(
    (name) => `--var ${name}: no script has a variable ${JSON.stringify(name)}${didYouMean(name, variables)}\n`,
  )
  const count = errors.length + lines.length
  if (count === 0) return undefined
  const invalid = new Set(errors.map(({ file }) => file)).size
  const where = invalid > 1 ? ` in ${invalid} files` : ''
  return `${[...lines, ...(errors.length > 0 ? [renderErrors(errors)] : [])].join('\n')}\n${counted(count, 'error')}${where}; nothing was run\n`
}

async function runPlans(
  plans: readonly Plan[],
  runId: string,
  mask: Mask,
  options: RunOptions,
  context: Context,
): Promise<number> {
  const { manifest, settings } = context
  const io = masked(context.io, mask)
  // A run of plain bodies prints their results as `bax do` does.
  const onlyBodies = plans.length > 0 && plans.every(({ kind }) => kind === 'body')
  const showsBodies = options.reporters.some(({ name, file }) => name === 'line' && file === undefined)
  const choices = options.reporters.filter(({ name, file }) => !(onlyBodies && name === 'line' && file === undefined))
  const open = await openReporters(choices, io, mask)
  const home = locateEngine({ ...context, io }, { when: 'ask' })
  const cleanup = startCleanupTimer(io.signal)
  const evidence = collectEvidence({
    folder: options.artifacts,
    pictures: options.reporters.some(({ name }) => name === 'html'),
    cwd: io.cwd,
    mask,
    signal: cleanup.signal,
  })
  const showBody = async (answer: CommandsResult) =>
    void (await showBatch({ io, manifest, settings }, mask.deep(answer), null, new Date()))
  try {
    const report = await runSuite(plans, {
      ...options,
      runId,
      reporters: open.reporters,
      showBody: showsBodies ? showBody : undefined,
      tools: {
        engine: {
          client: createClient(home.transport, manifest.operations),
          transport: home.transport,
          reportingControl: (id, work) => withControlNotice(io, home.transport, id, work),
          writeScreenshot: async (path, png) => {
            const target = resolve(io.cwd, mask.name(path))
            writeOutput(target, png)
            return target
          },
        },
        pictures: { update: options.updateSnapshots ?? false, inCi: isCi(io), mask },
        evidence,
        cwd: io.cwd,
        now: () => new Date(),
        signal: io.signal,
        cleanupSignal: cleanup.signal,
      },
    })
    if (io.signal.aborted) return interruptedExit(io)
    if (plans.length === 0) note(io, 'no scripts in this shard')
    return succeeded(report) ? exits.done : (exitOfFailure(report) ?? exits.failed)
  } catch (error) {
    throw error instanceof BaxError ? new BaxError(error.code, mask.text(error.message), { ...(error.hint && { hint: mask.text(error.hint) }), cause: error }) : error // prettier-ignore
  } finally {
    cleanup.release()
    open.close()
    await home.transport.close()
  }
}

const isCi = ({ env }: Context['io']): boolean => Boolean(env['CI']) && env['CI'] !== 'false'

/** Returns an Io whose outputs mask secrets. */
function masked(io: Context['io'], mask: Mask): Context['io'] {
  const maskedOutput = (output: Context['io']['stdout']) => {
    const value = (chunk: string | Uint8Array) => output.write(typeof chunk === 'string' ? mask.text(chunk) : chunk)
    return Object.create(output, { write: { value } }) as typeof output
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
