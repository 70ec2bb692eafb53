/** Replays a recorded script in a new session, and finds the step that does not hold. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RecordedStep } from '../../core/shapes/recording.ts'
import { scriptText } from '../../core/text/script/write-script.ts'
import type { Context } from '../context.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import type { Io } from '../io.ts'
import type { Replay } from '../run/run-loaded.ts'
import { uploadsOf } from './script-file.ts'

/** The result of a replay. */
export interface Verification {
  readonly success: boolean
  /** Number of steps, and of those that hold. */
  readonly steps: number
  readonly verified: number
  /** Position of the step that does not hold, from 1. */
  readonly failed_step?: number
  readonly error?: string
  readonly code?: string
  /** Why the steps after the verified ones were not replayed, unless one failed. */
  readonly reason?: string
}

/** Replays the steps in order until one fails. */
export async function verifySteps(
  steps: readonly RecordedStep[],
  context: Context,
  engine: LocatedEngine,
): Promise<Verification> {
  const { io } = context
  const obstacles = steps.map((step) => obstacleOf(step, io))
  const end = obstacles.findIndex((obstacle) => obstacle !== undefined)
  const first = end < 0 ? steps : steps.slice(0, end)
  const { passed, failure, obstacle } = first.length === 0 ? { passed: 0 } : await replayed(first, context, engine)
  const counts = { steps: steps.length, verified: passed }
  if (failure) return { success: false, ...counts, failed_step: passed + 1, error: failure.message, code: failure.code }
  const reason = io.signal.aborted ? 'interrupted' : (obstacle ?? obstacles[end])
  return { success: reason === undefined, ...counts, ...(reason !== undefined && { reason }) }
}

async function replayed(steps: readonly RecordedStep[], context: Context, engine: LocatedEngine): Promise<Replay> {
  const { replay } = await import('../run/run-loaded.ts')
  return replay(await scriptText(steps, context.manifest), context, engine)
}

/** Returns what a step needs that this machine does not have. */
function obstacleOf(step: RecordedStep, { cwd, env }: Io): string | undefined {
  if (step.secret && !env['PASSWORD']) return 'the environment variable PASSWORD is not set'
  const missing = uploadsOf(step).find((file) => !existsSync(resolve(cwd, file)))
  return missing === undefined ? undefined : `${missing} is not in this folder`
}
