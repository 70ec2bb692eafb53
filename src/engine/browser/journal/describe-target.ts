/** Describes the element of a command at the moment of the command: the selectors and the fingerprint of a script. */
import type { Locator, Page } from 'playwright'
import { withDeadline } from '../../../core/process/deadline.ts'
import { pageFunction } from '../page/page-function.ts'
import { convertSelector } from '../script-recorder/selectors.ts'
import { locateAll, parseSelector } from '../elements/selectors.ts'
import type { TargetFacts } from '../ports/journal.ts'
import type * as facts from './element-facts.page.ts'
import factsScript from './element-facts.page.ts?inline'

/** Time for the description of an element; a page that takes longer is not kept waiting. */
const describeMs = 1000

const factsIn = pageFunction<typeof facts.factsOf>(factsScript, 'factsOf')
const secretFocusIn = pageFunction<typeof facts.isSecretFocused>(factsScript, 'isSecretFocused')

/** Returns the facts of an element; undefined when it is missing, or the page does not answer. */
export async function describeTarget(element: Locator): Promise<TargetFacts | undefined> {
  // Describing never fails a command: the element may go at any time.
  return withDeadline(describe(element), { ms: describeMs, value: undefined }).catch(() => undefined)
}

async function describe(element: Locator): Promise<TargetFacts | undefined> {
  const [normal, { css, ...found }] = await Promise.all([
    element.normalize(),
    element.evaluate(factsIn, undefined, { timeout: describeMs }),
  ])
  const playwright = withoutText((normal as unknown as { readonly _selector: string })._selector, css)
  const { name } = found.fingerprint
  const part = convertSelector(playwright, { names: [] })
  const exact = convertSelector(playwright, { names: name === undefined ? [] : [name] })
  // The name of a fingerprint is not always that of the accessibility tree.
  const isExact = exact !== part && (await locateAll(element.page(), parseSelector(exact)).count()) === 1
  return { selector: isExact ? exact : part, playwright, ...found }
}

/** Replaces a selector by the text of a field, which is about to change, with a selector in the same frame. */
function withoutText(selector: string, css: string | undefined): string {
  const frames = /^.*internal:control=enter-frame >> /s.exec(selector)?.[0] ?? ''
  return css !== undefined && /internal:(?:has-)?text=/.test(selector.slice(frames.length)) ? frames + css : selector
}

/** Returns whether the text that is typed now would go to a field whose text must not be stored. */
export async function isSecretFocused(page: Page): Promise<boolean> {
  const found = page.frames().map((frame) => frame.evaluate(secretFocusIn, undefined))
  const all = await withDeadline(Promise.allSettled(found), { ms: describeMs, value: null })
  // A page that does not answer may show any field.
  return all === null || all.some((one) => one.status === 'rejected' || one.value)
}
