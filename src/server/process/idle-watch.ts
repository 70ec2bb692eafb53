/** Notices that nobody uses a local engine any more, without ever losing a caller who comes at that moment. */
import { rename } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from '../../core/engine.ts'

type Fetch = (request: Request, ...rest: never[]) => Response | Promise<Response>

export interface IdleWatch {
  /** Resolves when the engine has been unused for long enough; its socket can then no longer be found. */
  readonly expired: Promise<void>
  /** The same function, watched: an open call keeps the engine. */
  counting<F extends Fetch>(fetch: F): F
  stop(): void
}

/** Time in which callers that had found the socket before it was hidden are heard. */
const lastCallMs = 100

/** Watches calls and sessions; `idleMs` without either ends the watch. */
export function idleWatch(watched: { engine: Engine; socket: string; idleMs: number }): IdleWatch {
  const { engine, socket, idleMs } = watched
  let open = 0
  let calls = 0
  let lastUse = performance.now()
  const stopped = new AbortController()

  const inUse = async () => {
    if (open > 0) return true
    const { sessions, provisions, crawls, relays, shells } = await engine.status()
    return sessions + provisions + crawls + relays + shells > 0 || open > 0
  }

  /** Hides the socket, so that newcomers start another engine, and hears those who were already at the door. */
  const closeDoor = async () => {
    const before = calls
    const hidden = `${socket}.closing`
    await rename(socket, hidden)
    await pause(lastCallMs)
    if (calls === before && !(await inUse())) return true
    await rename(hidden, socket)
    return false
  }

  const watch = async () => {
    const every = Math.min(idleMs / 4, 30_000)
    for (;;) {
      await pause(every, undefined, { ref: false, signal: stopped.signal })
      if (await inUse()) lastUse = performance.now()
      if (performance.now() - lastUse >= idleMs && (await closeDoor())) return
    }
  }
  const expired = watch().catch((error: Error) => {
    if (error.name === 'AbortError') return new Promise<void>(() => {})
    throw error
  })

  return {
    expired,
    counting: <F extends Fetch>(fetch: F) =>
      (async (request: Request, ...rest: never[]) => {
        open += 1
        calls += 1
        try {
          return await fetch(request, ...rest)
        } finally {
          open -= 1
          lastUse = performance.now()
        }
      }) as F,
    stop: () => stopped.abort(),
  }
}
