/** Responses of workers that have not run a request. */
import type { IncomingMessage } from 'node:http'
import { BaxError } from '../../core/errors/errors.ts'
import { refusedHeader } from '../access/signed-caller.ts'
import type { WorkerAddress } from '../../core/fleet.ts'
import { readAll } from './relayed-response.ts'

/**
 * Returns whether a worker has accepted a request; false if it accepts no new work.
 * @throws BaxError `fleet_unavailable` if it does not trust the gateway, which is no fault of the caller
 */
export async function isAccepted(response: IncomingMessage, worker: WorkerAddress): Promise<boolean> {
  const refusal = response.headers[refusedHeader]
  if (refusal === undefined) return true
  if (refusal === 'draining') {
    response.resume()
    return false
  }
  const { message, hint, details } = BaxError.fromBody(JSON.parse(String(await readAll(response))))
  throw new BaxError('fleet_unavailable', `the worker ${worker.id} refuses this gateway: ${message}`, {
    ...(hint !== undefined && { hint }),
    ...(details && { details }),
  })
}
