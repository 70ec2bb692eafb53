/** Waits for the browser of a new session. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Calls } from './calls.ts'
import { BaxError, type ErrorBody } from '../core/errors/errors.ts'
import type { ProvisionRecord } from '../core/shapes/session.ts'

/** Polls until the session is ready, and calls `say` with the progress. An interrupt cancels the provisioning. */
export async function waitForProvision(
  { ask }: Pick<Calls, 'ask'>,
  provision_id: string,
  signal: AbortSignal,
  say?: (text: string) => void,
): Promise<ProvisionRecord> {
  try {
    for (;;) {
      const record = await ask('pollProvision', { provision_id }, { signal })
      if (record.status === 'ready') return record
      if (record.status !== 'provisioning') {
        const { error, code } = record
        const body: Partial<ErrorBody> = { error: error ?? `the provisioning was ${record.status}` }
        throw BaxError.fromBody(code ? { ...body, code } : body, 'no_capacity')
      }
      const place = record.queue_position ? `, ${record.queue_position} in the queue` : ''
      say?.(`waiting for a browser: ${record.stage.replaceAll('_', ' ')}${place}`)
      await pause(record.retry_after_ms, undefined, { signal })
    }
  } catch (error) {
    if (signal.aborted) await ask('cancelProvision', { provision_id })
    throw error
  }
}
