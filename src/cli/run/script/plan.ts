/** The plan of a valid script, which the runner executes. */
import type { z } from 'zod'
import type { Fingerprint } from '../../../core/shapes/recording.ts'
import type { operations } from '../../../operations/index.ts'
import type { Condition } from './condition.ts'
import type { Path, Place } from './document.ts'
import type { Template } from './references.ts'
import type { RunInputs } from './scope.ts'
import type { Retry } from './shape.ts'
import type { Verb } from './verbs.ts'

/** A file of steps. */
export interface ScriptPlan {
  readonly kind: 'script'
  /** Path as given by the user. */
  readonly file: string
  readonly name: string
  /** Fields to create or find the session with; null when no step needs one. */
  readonly session: Template | null
  readonly vars: Readonly<Record<string, unknown>>
  /** Values that are masked in all output. */
  readonly secrets: readonly string[]
  readonly given: RunInputs
  /** Whether selectors that match several elements are refused. */
  readonly strict: boolean
  readonly block: Block
}

/** A plain `{"commands": […]}` body, which is sent unchanged. */
export interface BodyPlan {
  readonly kind: 'body'
  readonly file: string
  readonly name: string
  readonly body: z.input<typeof operations.runCommands.input>
  readonly places: readonly Place[]
  readonly secrets: readonly string[]
}

export type Plan = ScriptPlan | BodyPlan

/** Steps, and those that run after them in any case. */
export interface Block {
  readonly steps: readonly StepPlan[]
  readonly finally: readonly StepPlan[]
}

export interface StepPlan {
  /** `3`, and `3.1` inside an included file. */
  readonly number: string
  readonly place: Place
  /** The command and its first value, for reports. */
  readonly label: string
  readonly name?: Template
  readonly when?: Condition
  readonly forEach?: { readonly items: Template; readonly as: string }
  readonly save?: string
  readonly retry: Retry
  readonly timeoutMs?: number
  readonly continueOnError: boolean
  readonly expect: readonly Expectation[]
  readonly fingerprint?: Fingerprint | undefined
  readonly action: CallAction | IncludeAction
}

export interface Expectation {
  readonly path: Path
  readonly pathText: string
  readonly template: Template
}

export interface CallAction {
  readonly kind: 'call'
  readonly verb: Verb
  readonly data: Template
  /** Path of the selector in the file. */
  readonly selectorAt?: Path | undefined
}

export interface IncludeAction {
  readonly kind: 'include'
  readonly block: Block
  /** Variables of the included file, resolved when it starts. */
  readonly vars: readonly (readonly [string, Template])[]
}

/** Counts the steps of a block, including those of included files. */
export function countSteps({ steps, finally: last }: Block): number {
  return [...steps, ...last].reduce(
    (sum, { action }) => sum + (action.kind === 'include' ? countSteps(action.block) : 1),
    0,
  )
}
