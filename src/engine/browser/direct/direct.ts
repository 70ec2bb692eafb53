/** Tries actions directly, over CDP, where the outcome is certainly that of Playwright. */
import type { Page } from 'playwright'
import type { ActOptions, CallLimit } from '../../../core/operation/command.ts'
import type { DirectElement } from '../../../core/operation/direct-element.ts'
import type { Delivery } from '../input/delivery.ts'
import { isTraced } from '../recording/traced.ts'
import { PageElement } from './element.ts'
import { directActionsEnabled } from './enabled.ts'
import { injectedIn, isNavigating } from '../page/internals.ts'
import { type DirectSelector, plainSelector } from './plain-selector.ts'
import { Unclear } from '../page/unclear.ts'
import { directWorldOf } from './world.ts'

interface Target {
  readonly page: Page
  readonly selector: string
  /** The selector in Playwright's form; undefined if it is not for the main frame. */
  readonly query: string | undefined
}

export interface DirectTry<T> extends Target {
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
function directSelector({ page, query, selector }: Target): DirectSelector | undefined {
  // A trace shows the actions of Playwright.
  if (!directActionsEnabled() || isTraced(page.context())) return undefined
  const plain = plainSelector(selector)
  return plain ? { plain } : query === undefined ? undefined : { query }
}

/** Runs the text of a function on all matches of a selector; returns undefined when they are unclear. */
export async function tryOnAll<T>(target: Target, work: string, options: unknown): Promise<T | undefined> {
  const { page } = target
  try {
    const found = directSelector(target)
    if (!found || isNavigating(page)) return undefined
    if ('plain' in found) return (await directWorldOf(page).runOnAll<T>(found.plain, work, options)) ?? undefined
    return await (await injectedIn(page))?.call<T>(onAllMatches(work), { query: found.query, options })
  } catch {
    // Playwright repeats it, and reports why it fails.
    return undefined
  }
}

const onAllMatches = (work: string) => `(injected, { query, options }) =>
  (${work})(injected.querySelectorAll(injected.parseSelector(query), document), options)`

/** Runs an action directly; returns undefined when the case is unclear, and nothing has been done. */
export async function tryDirectly<T>({ action, ...facts }: DirectTry<T>): Promise<Done<T> | undefined> {
  const found = directSelector(facts)
  if (!found) return undefined
  const element = new PageElement({ ...facts, found })
  try {
    const value = await action(element)
    return { value, matches: element.matches }
  } catch (error) {
    if (error instanceof Unclear) return undefined
    throw error
  }
}
