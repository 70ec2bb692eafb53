/** Runs in the page: waits until an event is handled, but not longer than until the next input. */

const waiting: (() => void)[] = []

/** Calls `work` after the listeners of the current event; a timer alone can run after further input. */
export function afterEvent(work: () => void): void {
  waiting.push(work)
  setTimeout(flush)
}

function flush(): void {
  for (const work of waiting.splice(0)) work()
}

/** Makes further input wait for the work; to be called before other listeners are added. */
export function watchInput(): void {
  const onInput = (event: Event) => event.isTrusted && flush()
  for (const type of ['keydown', 'keyup', 'pointerdown', 'beforeinput', 'dragstart'])
    addEventListener(type, onInput, { capture: true, passive: true })
}
