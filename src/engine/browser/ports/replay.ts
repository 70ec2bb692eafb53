/** The recording of a session for its replay. */
import type { CommandCall, CommandResult } from '../../../core/shapes/commands.ts'

export interface ReplayLog {
  /** Characters of its copies of pages. */
  readonly chars: number
  /**
   * Copies the page before a command, unless it is skipped; the returned function records the result, and the page
   * after it.
   */
  begin(call: CommandCall, runs: boolean): Promise<(result: CommandResult) => Promise<void>>
  /** Records what an agent was shown of the page. */
  observed(seen: ReplayObservation): void
}

/** An observation as its caller received it. */
export interface ReplayObservation {
  readonly snapshot?: string | undefined
  readonly text?: string | undefined
  readonly changes?: unknown
}
