/** Waits for an element, for `wait_for` and `wait_for_element`. */
import type { CommandContext } from '../../core/operation/command.ts'

interface Target {
  readonly selector: string
  readonly timeout_ms?: number | undefined
}

/** Waits for a match, or for a visible one; returns whether it is visible. @throws BaxError that explains why not. */
export function waitForElement({ act, locateAll }: CommandContext, target: Target, onlyVisible: boolean) {
  return act(target, onlyVisible ? 'visible' : 'present', async (element, limit) => {
    if (!onlyVisible) {
      await element.waitFor({ state: 'attached', ...limit })
      return element.isVisible()
    }
    // Any visible match is enough, not only the first in the page.
    const shown = locateAll(target.selector).filter({ visible: true })
    await shown.first().waitFor({ state: 'attached', ...limit })
    return true
  })
}
