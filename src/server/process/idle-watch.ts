/** Detects that a local engine is idle, without losing a caller that connects at that moment. */
import { rename } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Engine } from '../../core/engine.ts'

type Work = (...input: never[]) => unknown

export interface IdleWatch {
  /** Resolves when the engine has been idle for `idleMs`; its socket is hidden by then. */
  readonly expired: Promise<void>
  /** Wraps the function so that its calls count as use. */
  counting<F extends Work>(work: F): F
  stop(): void
}

/** Time for callers that found the socket before it was hidden to connect, in milliseconds. */
const graceMs = 100

/** Watches calls and sessions; the engine is idle after `idleMs` without either. */
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

  /** Hides the socket, so that new callers start another engine, and waits for callers that are connecting. */
  const hideSocket = async () => {
    const before = calls
    const hidden = `${socket}.closing`
    await rename(socket, hidden)
    await pause(graceMs)
    if (calls === before && !(await inUse())) return true
    await rename(hidden, socket)
    return false
  }

  const watch = async () => {
    const every = Math.min(idleMs / 4, 30_000)
    for (;;) {
      await pause(every, undefined, { ref: false, signal: stopped.signal })
      if (await inUse()) lastUse = performance.now()
      if (performance.now() - lastUse >= idleMs && (await hideSocket())) return
    }
  }
  const expired = watch().catch((error: Error) => {
    if (error.name === 'AbortError') return new Promise<void>(() => {})
    throw error
  })

  return {
    expired,
    counting: <F extends Work>(work: F) =>
      (async (...input: never[]) => {
        open += 1
        calls += 1
        try {
          return await work(...input)
        } finally {
          open -= 1
          lastUse = performance.now()
        }
      }) as F,
    stop: () => stopped.abort(),
  }
}
