/** A script that has been read and found right: what the runner works through. */
import type { Condition } from './condition.ts'
import type { Path } from './document.ts'
import type { Template } from './references.ts'
import type { Given } from './scope.ts'
import type { Verb } from './verbs.ts'

/** Where a step is written. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A file of steps. */
export interface ScriptPlan {
  readonly kind: 'script'
  /** As the user named it. */
  readonly file: string
  readonly name: string
  /** What the session is made with or found by; null when no step needs one. */
  readonly session: SessionPlan | null
  readonly vars: Readonly<Record<string, unknown>>
  /** Values that no output may show. */
  readonly secrets: readonly string[]
  readonly given: Given
  /** Refuse selectors that match several elements. */
  readonly strict: boolean
  readonly block: Block
}

/** A plain `{"commands": […]}` body, run as it is. */
export interface BodyPlan {
  readonly kind: 'body'
  readonly file: string
  readonly name: string
  readonly body: Readonly<Record<string, unknown>> & { readonly commands: readonly { readonly command: string }[] }
  readonly places: readonly Place[]
  readonly secrets: readonly string[]
}

export type Plan = ScriptPlan | BodyPlan

export interface SessionPlan {
  readonly fields: Template
}

/** Steps, and those that run after them whatever happened. */
export interface Block {
  readonly steps: readonly StepPlan[]
  readonly finally: readonly StepPlan[]
}

export interface StepPlan {
  /** `3`, and `3.1` inside an included file. */
  readonly number: string
  readonly place: Place
  /** The command with its first value as written, for reports. */
  readonly label: string
  readonly name?: Template
  readonly when?: Condition
  readonly forEach?: { readonly items: Template; readonly as: string }
  readonly save?: string
  readonly retry: { readonly count: number; readonly delayMs: number; readonly repeatDelivered: boolean }
  readonly timeoutMs?: number
  readonly continueOnError: boolean
  readonly expect: readonly Expectation[]
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
}

export interface IncludeAction {
  readonly kind: 'include'
  readonly file: string
  readonly block: Block
  /** Variables of the included file, filled when it begins. */
  readonly vars: readonly (readonly [string, Template])[]
}

/** How many steps a block has, those of included files among them. */
export function countSteps({ steps, finally: last }: Block): number {
  return [...steps, ...last].reduce(
    (sum, { action }) => sum + (action.kind === 'include' ? countSteps(action.block) : 1),
    0,
  )
}
