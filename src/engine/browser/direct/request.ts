/** Messages between the engine and the script in the page. */
import type { ActOptions, Point } from '../../../core/operation/command.ts'
import type { PlainSelector } from './plain-selector.ts'

export interface DirectRequest {
  /** Missing when the element itself is an argument of the call. */
  readonly plain?: PlainSelector

  /** Number of the action; the element is kept for further requests of the same action. */
  readonly id: number
  readonly strict: boolean
  readonly needs: NonNullable<ActOptions['needs']>
  /** Last moment to begin, in milliseconds since the epoch: later the action has been given up. */
  readonly until: number
  /** Events to watch: of a pressed button, or of a moved pointer. */
  readonly input?: WatchedInput
  /** State that a checkbox or radio button must get. */
  readonly checked?: boolean
}

export type WatchedInput = 'press' | 'move'

export type DirectAnswer =
  | { readonly unclear: string }
  | {
      readonly matches: number
      /** Result of the function that was run on the element. */
      readonly value?: unknown
      /** Position of the input; missing when none is needed. */
      readonly point?: Point
    }

/** Whether the watched input has reached its element: `missed` input was withheld from the page. */
export type Verdict = 'hit' | 'missed'

export interface Confirmation {
  /** Null when no input was seen. */
  readonly verdict: Verdict | null
  readonly connected: boolean
  /** Whether the element has moved before the release, and got no click. */
  readonly lost: boolean
  /** Messages about fields that keep a form from being submitted. */
  readonly rejected: readonly string[]
  readonly checked: boolean
}

/** Function of the isolated world that reports a verdict before the page handles the input. */
export const verdictBinding = 'baxVerdict'
