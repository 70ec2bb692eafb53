/** The results of a run, which every reporter formats in its own way. */
import { type ErrorCode, errorTable, exits, isErrorCode } from '../../core/errors/errors.ts'
import type { Shard } from './files.ts'
import type { Place } from './script/document.ts'

/** Why a step failed. */
export interface Failure {
  readonly message: string
  /** An error code of the engine, or `expectation_failed`, `undefined_reference`, `interrupted`. */
  readonly code: string
  readonly expected?: unknown
  readonly actual?: unknown
  readonly details?: unknown
}

/** A screenshot of a step, as PNG. */
export interface Screenshot {
  readonly label: string
  readonly png: Uint8Array
}

/** A step that is about to run. */
export interface StepStart {
  readonly number: string
  readonly name: string
  readonly place: Place
  readonly phase: 'steps' | 'finally'
  /** Item of for_each, counted from 1. */
  readonly item?: { readonly index: number; readonly of: number }
}

export interface StepReport extends StepStart {
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly durationMs: number
  readonly tries: number
  readonly failure?: Failure
  /** Why the step was skipped, or other remarks. */
  readonly note?: string
  /** Shortened result. */
  readonly value?: unknown
  readonly pictures: readonly Screenshot[]
}

/** A script that is about to run. */
export interface ScriptStart {
  readonly file: string
  readonly name: string
  readonly steps: number
  /** Number of the attempt, from 1; grows with --retries. */
  readonly attempt: number
}

export interface ScriptReport extends Omit<ScriptStart, 'steps'> {
  /** `flaky`: failed first and passed in a retry. */
  readonly status: StepReport['status'] | 'flaky'
  readonly startedAt: string
  readonly durationMs: number
  readonly sessionId?: string
  readonly steps: readonly StepReport[]
  /** Failure outside the steps, such as a session that could not be created. */
  readonly failure?: Failure
  /** Evidence files, relative to the working folder. */
  readonly artifacts: readonly string[]
  readonly notes: readonly string[]
}

export interface RunReport {
  readonly runId: string
  readonly startedAt: string
  readonly durationMs: number
  readonly shard?: Shard
  readonly scripts: readonly ScriptReport[]
}

export const succeeded = ({ scripts }: RunReport): boolean => scripts.every(({ status }) => status !== 'failed')

/** Returns the error of a run without engine, browser or access; undefined when steps failed. */
export function failureOf({ scripts }: RunReport): ErrorCode | undefined {
  const failed = scripts.filter(({ status }) => status === 'failed')
  const codes = failed.map(({ failure, steps }) => (steps.length === 0 ? failure?.code : undefined))
  const [code] = codes
  if (codes.some((other) => other !== code) || !isErrorCode(code)) return undefined
  const { exit } = errorTable[code]
  return exit === exits.unreachable || exit === exits.denied ? code : undefined
}

/** Counts scripts and their steps by status. */
export function countResults(report: RunReport) {
  const scripts = { passed: 0, failed: 0, flaky: 0, skipped: 0 }
  const steps = { passed: 0, failed: 0, skipped: 0 }
  for (const script of report.scripts) {
    scripts[script.status] += 1
    for (const { status } of script.steps) steps[status] += 1
  }
  return { scripts, steps }
}

const maxTextChars = 2000

/** Shortens a value for reports: truncates long texts and lists, and omits screenshots. */
export function shortened(value: unknown, key?: string): unknown {
  if (typeof value === 'string') {
    if ((key === 'screenshot' || key === 'pdf') && value.length > 100) return `(${key})`
    return value.length > maxTextChars ? `${value.slice(0, maxTextChars)}… (${value.length} characters)` : value
  }
  if (Array.isArray(value)) {
    const kept: unknown[] = value.slice(0, 100).map((item) => shortened(item))
    return value.length > 100 ? [...kept, `… (${value.length} items)`] : kept
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, key)]))
}
