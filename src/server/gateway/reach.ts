/** Checks whether a worker can be reached, for the state of the fleet and for `bax doctor`. */
import { anonymousCaller } from '../../core/access/caller.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { WorkerAddress } from '../../core/fleet.ts'
import { newId } from '../../core/ids.ts'
import { limits } from '../../core/limits/limits.ts'
import { operations } from '../../operations/index.ts'
import { type ForwardedRequests, forwardedHeader, refusedHeader } from '../access/signed-caller.ts'
import { refusalOf } from './refusals.ts'
import { LostWorker, type WorkerRequests } from './worker-requests.ts'

/** Request that every worker can answer. */
const [method, target] = operations.health.http.split(' ') as [string, string]
const reachLine = { method, target }

/**
 * Returns why a worker cannot be reached; null if it responds. Without the secret of the fleet, a worker responds by
 * refusing the connection, or the request if it has a certificate.
 */
export async function whyUnreachable(
  requests: WorkerRequests,
  worker: WorkerAddress,
  signer?: Pick<ForwardedRequests, 'sign'>,
): Promise<string | null> {
  const signal = AbortSignal.timeout(limits.gateway.reachMs)
  try {
    const facts = { caller: anonymousCaller, requestId: newId('req') }
    const { host } = new URL(worker.url)
    const outgoing = { ...reachLine, worker: worker.id, headers: new Headers({ host }) }
    const signature = signer?.sign(outgoing, facts)
    const headers = { host, ...(signature && { [forwardedHeader]: signature.header }) }
    const response = await requests.send(worker, { ...reachLine, headers, signature, signal })
    // Throws the reason if the worker does not trust this gateway.
    const isRunning = signer && (await refusalOf(response, worker)) === undefined
    response.resume()
    const isWorker = isRunning ? response.statusCode! < 400 : response.headers[refusedHeader] !== undefined
    return isWorker ? null : `it is no worker: it responds with status ${response.statusCode}`
  } catch (error) {
    // The handshake without the secret failed as only that with a worker does.
    if (!signer && error instanceof LostWorker && error.isOtherSecret) return null
    return signal.aborted ? `no answer within ${limits.gateway.reachMs} ms` : reasonOf(error as Error)
  }
}

function reasonOf({ message, cause }: Error): string {
  if (cause instanceof BaxError) return cause.hint === undefined ? message : `${message}: ${cause.hint}`
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException
  if (!untrusted.has(code)) return message
  return `its certificate is not trusted (${message}): pass the certificate of its CA with --fleet-ca`
}

const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])
