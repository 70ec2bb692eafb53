/** Records alerts, status messages and toasts of a page while something is done to it. */
import { BaxError } from '../../../core/errors/errors.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import type { BatchTarget } from '../batch/batch-target.ts'
import type { Alert } from './alerts.page.ts'
import alertsScript from './alerts.page.ts?inline'
import { listWorlds, type World, WorldGone } from './worlds.ts'

/** Ends the recording; what documents say that were replaced meanwhile is lost with them. */
export type StopRecording = () => Promise<Alert[]>

export async function recordAlerts(target: BatchTarget): Promise<StopRecording> {
  const page = await target.page()
  const worlds = await withDeadline(listWorlds(page), deadline).catch(unlessOurs<World[]>([]))
  const run = async <T>(name: string, input: unknown): Promise<T[]> => {
    const answers = Promise.all(worlds.map((world) => call<T>(world, name, input)))
    return (await withDeadline(answers, deadline).catch(unlessOurs<T[][]>([]))).flat()
  }
  await run('start', recorded)
  return async () => (await run<Alert[]>('stop', null)).flat()
}

/** Alerts that a step records, and the length of each. */
const recorded = { most: 50, longest: 500 }

/** A page that takes longer is busy; like one that crashes or closes, the observation afterwards reports it. */
const deadline = { ms: 500, error: 'the page did not answer' }

const unlessOurs =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof BaxError && error.code === 'internal_error') throw error
    return instead
  }

/** Nothing when the document is gone. */
async function call<T>(world: World, name: string, input: unknown): Promise<T[]> {
  const script = `(() => { ;${alertsScript}; return JSON.stringify(__bax_module.${name}(${JSON.stringify(input)})) })()`
  try {
    return [await world.evaluate<T>(script)]
  } catch (error) {
    if (error instanceof WorldGone) return []
    throw error
  }
}
