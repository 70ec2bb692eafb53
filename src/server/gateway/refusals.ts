/** Responses of workers that have not run a request. */
import type { IncomingMessage } from 'node:http'
import { BaxError } from '../../core/errors/errors.ts'
import { refusedHeader } from '../access/signed-caller.ts'
import type { WorkerAddress } from '../../core/fleet.ts'
import { readAll } from './relayed-response.ts'
import { LostWorker } from './worker-requests.ts'

/**
 * Returns whether a worker has accepted a request; false if it accepts no new work.
 * @throws LostWorker if it does not trust the gateway, which is handled like a worker that cannot be reached
 */
export async function isAccepted(response: IncomingMessage, worker: WorkerAddress): Promise<boolean> {
  const refusal = response.headers[refusedHeader]
  if (refusal === undefined) return true
  if (refusal === 'draining') {
    response.resume()
    return false
  }
  const { message, hint, details } = BaxError.fromBody(JSON.parse(String(await readAll(response))))
  const reason = new BaxError('fleet_unavailable', `the worker ${worker.id} refuses this gateway: ${message}`, {
    ...(hint !== undefined && { hint }),
    ...(details && { details }),
  })
  throw new LostWorker(reason, false)
}
