/** Requests to Redis on behalf of callers, which do not wait for it forever. */
import type { Redis } from 'ioredis'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'

/**
 * Runs commands once Redis is connected, and returns their result. Commands that were sent may run later even if this
 * fails.
 * @throws BaxError `fleet_unavailable` when Redis is away, does not answer in time, or refuses a command.
 */
export async function ask<T>(
  redis: Redis,
  run: () => Promise<T>,
  answerMs: number = limits.fleet.answerMs,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(away()), answerMs)
  })
  try {
    // A connection that was closed by this process is never ready again; commands report that.
    if (redis.status !== 'ready' && redis.status !== 'end') await Promise.race([connected(redis), late])
    return await Promise.race([run(), late])
  } catch (error) {
    throw error instanceof BaxError ? error : refused(error as Error)
  } finally {
    clearTimeout(timer)
  }
}

/** Requests that wait for a connection share one listener. */
const connecting = new WeakMap<Redis, Promise<void>>()

function connected(redis: Redis): Promise<void> {
  let ready = connecting.get(redis)
  if (!ready) {
    ready = new Promise((resolve) => {
      const done = () => {
        connecting.delete(redis)
        redis.off('ready', done).off('end', done)
        resolve()
      }
      redis.on('ready', done).on('end', done)
    })
    connecting.set(redis, ready)
  }
  return ready
}

const retryLater = { retryAfterSecs: limits.overload.retryAfterSecs }

const away = (): BaxError =>
  new BaxError('fleet_unavailable', 'Redis does not answer', {
    hint: "retry later; the server's log has the cause",
    ...retryLater,
  })

function refused(cause: Error): BaxError {
  const isFull = cause.message.startsWith('OOM ')
  const message = isFull ? 'Redis has reached its memory limit' : `Redis refused a command: ${cause.message}`
  const hint = isFull ? 'increase "maxmemory" of Redis' : 'run "bax doctor --fleet URL"'
  return new BaxError('fleet_unavailable', message, { cause, hint, ...retryLater })
}
