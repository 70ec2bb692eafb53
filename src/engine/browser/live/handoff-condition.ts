/** The condition that ends a handoff: a URL or a text of the active tab. */
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { urlGlob } from '../network/url-glob.ts'
import type { LiveSession } from '../ports/session.ts'

type Condition = (page: Page) => Promise<boolean>

/** @throws BaxError `invalid_request` for an invalid glob */
export function conditionOf(until: string): Condition {
  const value = until.slice(until.indexOf(':') + 1)
  if (until.startsWith('text:')) return (page) => hasText(page, value)
  const matches = urlGlob(value, 'until')
  return async (page) => matches(page.url())
}

/** Calls `met` once when the condition holds; returns a function that stops the checks. */
export function watchCondition(session: LiveSession, condition: Condition, met: () => void): () => void {
  let isChecking = false
  const check = async () => {
    const { activePage } = session
    if (isChecking || !activePage) return
    isChecking = true
    // A page that hangs, navigates or closes is checked again.
    const holds = await withDeadline(condition(activePage), { ms: limits.observe.parseMs, value: false }).catch(
      () => false,
    )
    isChecking = false
    if (holds) met()
  }
  const timer = setInterval(() => void check(), limits.handoffs.checkMs)
  void check()
  return () => clearInterval(timer)
}

async function hasText(page: Page, text: string): Promise<boolean> {
  const found = await Promise.allSettled(
    page.frames().map((frame) =>
      frame.evaluate((wanted) => {
        const { documentElement: element } = document
        return element instanceof HTMLElement && element.innerText.includes(wanted)
      }, text),
    ),
  )
  return found.some((outcome) => outcome.status === 'fulfilled' && outcome.value)
}
