/** Records alerts, status messages and toasts of a page while something is done to it. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { BatchTarget } from '../batch/batch-target.ts'
import { inTime } from '../batch/in-time.ts'
import type { Alert } from './alerts.page.ts'
import alertsScript from './alerts.page.ts?inline'
import { listWorlds, type World, WorldGone } from './worlds.ts'

/** Ends the recording; what documents say that were replaced meanwhile is lost with them. */
export type StopRecording = () => Promise<Alert[]>

export async function recordAlerts(target: BatchTarget): Promise<StopRecording> {
  const page = await target.page()
  const worlds = await inTime(listWorlds(page), answerMs, late).catch(unlessOurs<World[]>([]))
  const run = async <T>(name: string, input: unknown): Promise<T[]> => {
    const answers = Promise.all(worlds.map((world) => call<T>(world, name, input)))
    return (await inTime(answers, answerMs, late).catch(unlessOurs<T[][]>([]))).flat()
  }
  await run('start', recorded)
  return async () => (await run<Alert[]>('stop', null)).flat()
}

/** Alerts that a step records, and the length of each. */
const recorded = { most: 50, longest: 500 }

/** A page that takes longer is busy; like one that crashes or closes, the observation afterwards reports it. */
const answerMs = 500
const late = 'the page did not answer'

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
