/** The options of `bax run`. */
import type { ActionKind } from '../../core/access/approvals.ts'
import type { Shard } from './files.ts'
import type { ReporterChoice } from './reporters/index.ts'

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
  /** Whether to replace selectors of elements that were found by their fingerprints. */
  readonly update?: boolean
  /** Whether new sessions have a window, whatever the scripts declare. */
  readonly headed?: boolean
  /** Actions that wait for a person, in addition to those that the scripts declare. */
  readonly confirm?: readonly ActionKind[]
  /** Whether steps may ask a person to take over, and wait. */
  readonly allowHandoff?: boolean
  /** Called with the ID of each script's session. */
  readonly onSession?: (id: string) => void
  /** Whether scripts run again when their files change, until the command is interrupted. */
  readonly watch?: boolean
  readonly artifacts?: string
  /** File, or folder ending in `/`, for the replays of the sessions. */
  readonly replay?: string
  readonly shard?: Shard
}
