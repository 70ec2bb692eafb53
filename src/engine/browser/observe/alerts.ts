/** Records alerts, status messages and toasts of a page during a step. */
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { BatchTarget } from '../batch/batch-target.ts'
import type { Alert } from './alerts.page.ts'
import alertsScript from './alerts.page.ts?inline'
import { listWorlds, type World, WorldGone } from './worlds.ts'

/** Stops recording and returns the alerts, except those of documents that were replaced meanwhile. */
export type StopRecording = () => Promise<Alert[]>

export async function recordAlerts(target: BatchTarget): Promise<StopRecording> {
  const page = await target.page()
  const worlds = await withDeadline(listWorlds(page), deadline).catch(unlessInternal<World[]>([]))
  const run = async <T>(name: string, input: unknown): Promise<T[]> => {
    const answers = Promise.all(worlds.map((world) => call<T>(world, name, input)))
    return (await withDeadline(answers, deadline).catch(unlessInternal<T[][]>([]))).flat()
  }
  await run('start', recordLimits)
  return async () => (await run<Alert[]>('stop', null)).flat()
}

/** Maximum number of alerts of a step, and maximum length of each. */
const recordLimits = { most: 50, longest: 500 }

/** Deadline for the page; the observation afterwards reports a page that hangs, crashes or closes. */
const deadline = { ms: 500, error: 'the page did not answer' }

const unlessInternal =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof BaxError && error.code === 'internal_error') throw error
    return instead
  }

/** Calls a function in a document; returns nothing when the document has been replaced. */
async function call<T>(world: World, name: string, input: unknown): Promise<T[]> {
  const script = `(() => { ;${alertsScript}; return JSON.stringify(__bax_module.${name}(${JSON.stringify(input)})) })()`
  try {
    return [await world.evaluate<T>(script)]
  } catch (error) {
    if (error instanceof WorldGone) return []
    throw error
  }
}
