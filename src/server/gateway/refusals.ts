/** Responses of workers that have not run a request. */
import type { IncomingMessage } from 'node:http'
import { BaxError } from '../../core/errors/errors.ts'
import type { WorkerAddress } from '../../core/fleet.ts'
import { refusedHeader } from '../access/signed-caller.ts'
import { readAll } from './relayed-response.ts'
import { LostWorker, refusedError } from './worker-requests.ts'

/** Refusal of a worker; another one may run the request. */
export interface Refused {
  /** Why the worker cannot do the work; absent if it accepts no new work. */
  readonly lacks?: BaxError
}

/**
 * Returns the refusal of a worker; undefined if it has accepted the request.
 * @throws LostWorker if it does not trust the gateway, which is handled like a worker that cannot be reached
 */
export async function refusalOf(response: IncomingMessage, worker: WorkerAddress): Promise<Refused | undefined> {
  const refusal = response.headers[refusedHeader]
  if (refusal === undefined) return undefined
  if (refusal === 'draining') {
    response.resume()
    return {}
  }
  const error = BaxError.fromBody(JSON.parse(String(await readAll(response))))
  if (refusal === 'unavailable') return { lacks: error }
  const { message, hint, details } = error
  const more = { ...(hint !== undefined && { hint }), ...(details && { details }) }
  throw new LostWorker(refusedError(worker.id, message, more), false)
}
