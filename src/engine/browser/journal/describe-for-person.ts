/** Describes the elements of the active page that a person is about to click or to edit. */
import type { Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { injectedIn } from '../page/internals.ts'
import { pageFunction } from '../page/page-function.ts'
import type { TargetFacts } from '../ports/journal.ts'
import { targetOf } from './describe-target.ts'
import type * as facts from './person-facts.page.ts'
import factsScript from './person-facts.page.ts?inline'

/** An element, with what it contained and how keys change it. */
export interface PersonTarget extends Pick<facts.PersonElement, 'editing' | 'isToggle' | 'value'> {
  readonly page: Page
  readonly target: TargetFacts
}

const factsAt = String(pageFunction(factsScript, 'factsAt'))
const factsOfFocus = String(pageFunction(factsScript, 'factsOfFocus'))
const contentOf = String(pageFunction(factsScript, 'contentOf'))

/** Returns the element at a point of the viewport, in CSS pixels; undefined if none can be described. */
export const targetAt = (page: Page, point: { readonly x: number; readonly y: number }) =>
  describe(page, factsAt, { x: point.x, y: point.y })

/** Returns the element with the focus; undefined if it cannot be described. */
export const targetInFocus = (page: Page) => describe(page, factsOfFocus, null)

/** Returns what an element contains now; undefined if it is gone. */
export const contentNow = async ({ page, target }: PersonTarget) =>
  (await ask<PersonTarget['value'] | null>(page, contentOf, target.playwright)) ?? undefined

async function describe(page: Page, work: string, input: unknown): Promise<PersonTarget | undefined> {
  const found = await ask<facts.PersonElement | null>(page, work, input)
  if (!found) return undefined
  const { editing, isToggle, value, ...known } = found
  return { page, editing, isToggle, value, target: targetOf(known) }
}

/** Calls a function in the main frame; a page that is busy or goes away does not keep the person waiting. */
async function ask<Output>(page: Page, work: string, input: unknown): Promise<Output | undefined> {
  const answer = injectedIn(page).then((injected) => injected?.call<Output>(work, input))
  return withDeadline(answer, { ms: limits.journal.describeMs, value: undefined }).catch(() => undefined)
}
