/** Stops a page that has been read: ends its timers and listeners, and clears its storage. */

/** Maximum number of timers to end one by one; pages with more are stopped by navigating away. */
const maxTimers = 20_000

/**
 * Prepares to stop the page while its globals are still those of the browser. The returned function stops it, and
 * returns whether that succeeded, so that the tab can open the next page immediately.
 */
export function sealPage(): () => boolean {
  const { setTimeout, clearTimeout, stop }: Window = window
  const { open } = Document.prototype
  const cancelFrame = globalThis.cancelAnimationFrame.bind(globalThis)
  const requestFrame = globalThis.requestAnimationFrame.bind(globalThis)
  return () => {
    // Timers and intervals share one ID sequence.
    const last = Reflect.apply(setTimeout, globalThis, [() => {}, 0])
    if (last > maxTimers) return false
    for (let id = last; id > 0; id--) Reflect.apply(clearTimeout, globalThis, [id])
    for (let id = requestFrame(() => {}); id > 0; id--) cancelFrame(id)
    stop()
    try {
      // Opening the document removes its elements and all listeners, including those for unload.
      Reflect.apply(open, document, [])
    } catch {
      // XML documents cannot be opened.
      return false
    }
    window.name = ''
    try {
      sessionStorage.clear()
      localStorage.clear()
    } catch {
      // Sandboxed documents have no storage.
    }
    return true
  }
}
