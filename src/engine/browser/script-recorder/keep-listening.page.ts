/** Runs in the page: keeps listeners when a page writes a document anew, which removes all listeners of its window. */

const probe = 'bax-listening'

/** Calls `listen` now, and again after each `document.open()`. */
export function keepListening(listen: () => void): void {
  let isListening: boolean
  const start = () => {
    addEventListener(probe, () => (isListening = true))
    listen()
  }
  start()
  const onRootChange = () => {
    isListening = false
    dispatchEvent(new Event(probe))
    if (!isListening) start()
  }
  new MutationObserver(onRootChange).observe(document, { childList: true })
}
