/** Asks all workers the same, and joins their responses. */
import { BaxError } from '../../core/errors/errors.ts'
import type { Directory, WorkerAddress } from '../../core/fleet.ts'
import type { OnAll } from '../../core/operation/placement.ts'
import { readAll } from './relayed-response.ts'
import { LostWorker, workerLost } from './worker-requests.ts'
import type { IncomingMessage } from 'node:http'

export interface AskedAll {
  readonly directory: Pick<Directory, 'workers'>
  readonly runs: OnAll
  readonly input: unknown
  send(worker: WorkerAddress): Promise<IncomingMessage>
  /** Response of the gateway itself. */
  own(): Promise<unknown>
}

/**
 * Returns the joined response; a warning reports workers that were lost meanwhile.
 * @throws BaxError of the first worker that rejects the request, `worker_lost` when none responds
 */
export async function askAll(asked: AskedAll): Promise<{ output: unknown; warning?: string }> {
  const { directory, runs, input, send, own } = asked
  const workers = await directory.workers()
  // First: what the gateway cancels must not get the slots that workers free.
  const mine = runs.own ? [await own()] : []
  const answers = await Promise.all(
    workers.map((worker) =>
      send(worker)
        .then(outputOf)
        .catch((error: unknown) => {
          if (error instanceof LostWorker) return error
          throw error
        }),
    ),
  )
  const lost = workers.filter((_, at) => answers[at] instanceof LostWorker).map(({ id }) => id)
  if (workers.length > 0 && lost.length === workers.length) throw workerLost(answers[0])
  const outputs = answers.filter((answer) => !(answer instanceof LostWorker))
  const output = runs.merge([...mine, ...outputs] as never[], input as never)
  if (lost.length === 0) return { output }
  return {
    output,
    warning: `without ${lost.length} of ${workers.length} workers, which did not respond: ${lost.join(', ')}`,
  }
}

async function outputOf(response: IncomingMessage): Promise<unknown> {
  const body: unknown = JSON.parse(String(await readAll(response)))
  if (response.statusCode! >= 400) throw BaxError.fromBody(body)
  return body
}
