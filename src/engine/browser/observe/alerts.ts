/** Records alerts, status messages and toasts of a page during a step. */
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import type { Alert } from './alerts.page.ts'
import alertsScript from './alerts.page.ts?inline'
import { listWorlds, WorldGone } from './worlds.ts'

/** Records until the returned function is called, which returns the alerts of documents that were not replaced. */
export async function recordAlerts(target: BatchTarget): Promise<() => Promise<Alert[]>> {
  const page = await target.page()
  const worlds = await orNothing(listWorlds(page))
  const run = (name: string, input: unknown): Promise<readonly (Alert[] | null)[]> =>
    orNothing(Promise.all(worlds.map((world) => world.call<Alert[] | null>(alertsScript, name, input).catch(ifGone))))
  await run('start', recordLimits)
  return async () => (await run('stop', null)).flatMap((alerts) => alerts ?? [])
}

/** Maximum number of alerts of a step, and maximum length of each. */
const recordLimits = { most: 50, longest: 500 }

/** Returns nothing for a page that hangs, crashes or closes, which the observation afterwards reports. */
async function orNothing<T>(work: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await withDeadline(work, { ms: 500, error: 'the page did not answer' })
  } catch (error) {
    if (error instanceof BaxError && error.code === 'internal_error') throw error
    return []
  }
}

function ifGone(error: unknown): null {
  if (error instanceof WorldGone) return null
  throw error
}
