/** Tries actions directly, over CDP, where the outcome is certainly that of Playwright. */
import type { Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import type { DirectElement } from '../../../core/operation/direct-element.ts'
import type { Delivery } from '../input/delivery.ts'
import { isTraced } from '../recording/traced.ts'
import { PageElement } from './element.ts'
import { directActionsEnabled } from './enabled.ts'
import { isNavigating } from '../page/internals.ts'
import { type PlainSelector, plainSelector } from './plain-selector.ts'
import { Unclear } from '../page/unclear.ts'
import { directWorldOf } from './world.ts'

export interface DirectTry<T> {
  readonly page: Page
  readonly selector: string
  readonly strict: boolean
  readonly needs: NonNullable<ActOptions['needs']>
  readonly delivery: Delivery | undefined
  readonly limit: CallLimit
  readonly action: (element: DirectElement) => Promise<T>
}

export interface Done<T> {
  readonly value: T
  readonly matches: number
}

/** Returns a selector that actions may use directly. */
function directSelector(page: Page, selector: string): PlainSelector | undefined {
  // A trace shows the actions of Playwright.
  return directActionsEnabled() && !isTraced(page.context()) ? plainSelector(selector) : undefined
}

/** Runs the text of a function on all matches of a selector; returns undefined when they are unclear. */
export async function tryOnAll<T>(
  page: Page,
  selector: string,
  work: string,
  options: unknown,
): Promise<T | undefined> {
  const plain = directSelector(page, selector)
  try {
    if (!plain || isNavigating(page)) return undefined
    return (await directWorldOf(page).runOnAll<T>(plain, work, options)) ?? undefined
  } catch {
    // Playwright repeats it, and reports why it fails.
    return undefined
  }
}

/** Runs an action directly; returns undefined when the case is unclear, and nothing has been done. */
export async function tryDirectly<T>({ action, ...facts }: DirectTry<T>): Promise<Done<T> | undefined> {
  const plain = directSelector(facts.page, facts.selector)
  if (!plain) return undefined
  const element = new PageElement({ ...facts, plain })
  try {
    const value = await action(element)
    return { value, matches: element.matches }
  } catch (error) {
    if (error instanceof Unclear) return undefined
    throw error
  }
}
