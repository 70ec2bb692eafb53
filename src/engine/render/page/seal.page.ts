/** Ends a page that has been read: what it still has running does nothing more, and what it keeps is gone. */

/** Timers that are ended one by one; a page with more is ended by navigating away. */
const mostTimers = 20_000

/**
 * Prepares the end of a page while its globals are still those of the browser. The function that comes back gives
 * whether the page is quiet now: a tab with such a page can open the next one at once.
 */
export function sealPage(): () => boolean {
  const { setTimeout, clearTimeout, stop } = globalThis
  const { open } = Document.prototype
  const cancelFrame = globalThis.cancelAnimationFrame.bind(globalThis)
  const requestFrame = globalThis.requestAnimationFrame.bind(globalThis)
  return () => {
    // Intervals are counted with the timers.
    const last = Reflect.apply(setTimeout, globalThis, [() => {}, 0]) as unknown as number
    if (last > mostTimers) return false
    for (let id = last; id > 0; id--) Reflect.apply(clearTimeout, globalThis, [id])
    for (let id = requestFrame(() => {}); id > 0; id--) cancelFrame(id)
    stop()
    try {
      // A document that is opened anew loses its elements and all listeners, those for its last moment too.
      Reflect.apply(open, document, [])
    } catch {
      // XML cannot be opened.
      return false
    }
    window.name = ''
    return clearStorage()
  }
}

function clearStorage(): boolean {
  try {
    sessionStorage.clear()
    localStorage.clear()
  } catch {
    // Sandboxed documents have no storage.
  }
  return true
}
