/** Limits the cleanup after an interrupt: `finally` steps, logs, and closing sessions. */

const cleanupMs = 30_000

/** Returns a signal that is aborted `cleanupMs` after `interrupt`. `release` clears the timer. */
export function startCleanupTimer(interrupt: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    timer = setTimeout(() => controller.abort(interrupt.reason), cleanupMs)
  }
  if (interrupt.aborted) start()
  else interrupt.addEventListener('abort', start, { once: true })
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer)
      interrupt.removeEventListener('abort', start)
    },
  }
}
