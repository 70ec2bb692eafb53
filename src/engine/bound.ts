/** Reports the objects of a worker to the directory of its fleet; does nothing outside of fleets. */
import type { EngineConfig } from '../core/config/config.ts'
import type { BoundObject } from '../core/fleet.ts'

type Binding = Pick<EngineConfig, 'bound' | 'log'>

/** Binds an object that ends with `ended`, and is found for another `keptMs`. @throws BaxError if it cannot be bound */
export async function bindUntil(
  config: Binding,
  object: Omit<BoundObject, 'worker' | 'lost_at'>,
  { ended, keptMs, reservation }: { ended: AbortSignal; keptMs: number; reservation?: string | undefined },
): Promise<void> {
  if (!config.bound) return
  await config.bound.bind(object, reservation)
  const end = () => endBound(config, object.id, keptMs)
  if (ended.aborted) end()
  else ended.addEventListener('abort', end, { once: true })
}

/** Binds a record that outlives its work: it is only found, and takes no slot. @throws BaxError if it cannot be bound */
export async function bindRecord(
  config: Binding,
  object: Omit<BoundObject, 'worker' | 'lost_at' | 'name'>,
  keptMs: number,
): Promise<void> {
  if (!config.bound) return
  await config.bound.bind({ ...object, name: null })
  endBound(config, object.id, keptMs)
}

/** Ends an object in the background. After a failure, the next heartbeat of the worker corrects the directory. */
export function endBound({ bound, log }: Binding, id: string, keptMs: number): void {
  bound?.end(id, keptMs).catch((error: unknown) => {
    log('warn', 'the end of an object could not be reported', { object: id, error: (error as Error).message })
  })
}
