/** What a run was like: the facts that every reporter tells in its own form. */
import { type ErrorCode, errorTable, exits } from '../../core/errors/errors.ts'
import type { Place } from './script/plan.ts'

type StepStatus = 'passed' | 'failed' | 'skipped'
/** `flaky`: failed first and passed when it was tried again. */
type ScriptStatus = 'passed' | 'failed' | 'flaky' | 'skipped'

/** Why a step failed. */
export interface Failure {
  readonly message: string
  /** A code of the service, or `expectation_failed`, `undefined_reference`, `interrupted`. */
  readonly code: string
  readonly expected?: unknown
  readonly actual?: unknown
  readonly details?: unknown
}

/** A PNG that tells something about a step. */
export interface Picture {
  readonly label: string
  readonly png: Uint8Array
}

/** A step that is about to run. */
export interface StepStart {
  readonly number: string
  readonly name: string
  readonly place: Place
  readonly phase: 'steps' | 'finally'
  /** Which item of for_each, counting from 1. */
  readonly item?: { readonly index: number; readonly of: number }
}

export interface StepReport extends StepStart {
  readonly status: StepStatus
  readonly durationMs: number
  /** How often it was tried. */
  readonly tries: number
  readonly failure?: Failure
  /** Why it was skipped, or what else a reader should know. */
  readonly note?: string
  /** The result, shortened. */
  readonly value?: unknown
  readonly pictures: readonly Picture[]
}

/** A script that is about to run. */
export interface ScriptStart {
  readonly file: string
  readonly name: string
  readonly steps: number
  /** 1, and more with --retries. */
  readonly attempt: number
}

export interface ScriptReport extends Omit<ScriptStart, 'steps'> {
  readonly status: ScriptStatus
  readonly startedAt: string
  readonly durationMs: number
  readonly sessionId?: string
  readonly steps: readonly StepReport[]
  /** What went wrong beside the steps: no session, no capacity. */
  readonly failure?: Failure
  /** Files that were kept, as paths from the working folder. */
  readonly artifacts: readonly string[]
  readonly notes: readonly string[]
}

export interface RunReport {
  readonly runId: string
  readonly startedAt: string
  readonly durationMs: number
  readonly shard?: { readonly index: number; readonly of: number }
  readonly scripts: readonly ScriptReport[]
}

export const succeeded = ({ scripts }: RunReport): boolean => scripts.every(({ status }) => status !== 'failed')

/** What a run that could not even begin exits with: no engine, no browser, no right; undefined when steps have failed. */
export function exitOfFailure({ scripts }: RunReport): number | undefined {
  const failed = scripts.filter(({ status }) => status === 'failed')
  const codes = failed.map(({ failure, steps }) => (steps.length === 0 ? failure?.code : undefined))
  const [code] = codes
  if (code === undefined || codes.some((other) => other !== code) || !Object.hasOwn(errorTable, code)) return undefined
  const { exit } = errorTable[code as ErrorCode]
  return exit === exits.unreachable || exit === exits.denied ? exit : undefined
}

/** How many scripts, and how many of their steps, ended in which way. */
export function tally(report: RunReport) {
  const scripts = { passed: 0, failed: 0, flaky: 0, skipped: 0 }
  const steps = { passed: 0, failed: 0, skipped: 0 }
  for (const script of report.scripts) {
    scripts[script.status] += 1
    for (const { status } of script.steps) steps[status] += 1
  }
  return { scripts, steps }
}

/** Longest text of a value that goes into a report. */
const longest = 2000

/** A value as reports show it: long texts cut, pictures left out. */
export function shortened(value: unknown, key?: string): unknown {
  if (typeof value === 'string') {
    if (key === 'screenshot' && value.length > 100) return '(picture)'

    return value.length > longest ? `${value.slice(0, longest)}… (${value.length} characters)` : value
  }
  if (Array.isArray(value)) {
    const kept: unknown[] = value.slice(0, 100).map((item) => shortened(item))
    return value.length > 100 ? [...kept, `… (${value.length} items)`] : kept
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, key)]))
}
