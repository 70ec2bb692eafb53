/** Describes the element of a command at the moment of the command: the selectors and the fingerprint of a script. */
import type { Locator, Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'
import { withoutIcons } from '../elements/icons.ts'
import { withDeadline } from '../../../core/process/deadline.ts'
import { injectedIn, isNavigating } from '../page/internals.ts'
import { pageFunction } from '../page/page-function.ts'
import { convertSelector } from '../script-recorder/selectors.ts'
import { locateAll, parseSelector, selectorInMain, selectorOf } from '../elements/selectors.ts'
import type { TargetFacts } from '../ports/journal.ts'
import type * as facts from './element-facts.page.ts'
import factsScript from './element-facts.page.ts?inline'

const { describeMs } = limits.journal

const factsIn = pageFunction<typeof facts.factsOf>(factsScript, 'factsOf')
const findFacts = String(pageFunction(factsScript, 'findFacts'))
const secretFocusIn = pageFunction<typeof facts.isSecretFocused>(factsScript, 'isSecretFocused')

/** Facts of an element; undefined when it is missing, or the page does not answer. */
type Described = TargetFacts | undefined

/**
 * Asks for the facts of an element. Resolves once the page will read them before it takes any later call, with a function
 * that returns them. Describing never fails a command: the element may go at any time.
 */
export async function describeTarget(element: Locator): Promise<() => Promise<Described>> {
  const limit = { ms: describeMs, value: undefined }
  const asked = ask(element)
  const described = withDeadline(
    asked.then((answer) => answer?.()),
    limit,
  ).catch(() => undefined)
  await withDeadline(asked, limit).catch(() => undefined)
  return () => described
}

async function ask(element: Locator): Promise<(() => Promise<Described>) | undefined> {
  const page = element.page()
  // A document that goes away may show something else than what the command uses.
  if (isNavigating(page)) return undefined
  const selector = selectorInMain(element)
  const injected = selector === undefined ? undefined : await injectedIn(page)
  if (!injected) {
    const described = await describeInFrame(element)
    return () => Promise.resolve(described)
  }
  const answer = injected.call<facts.FoundElement | null>(findFacts, selector)
  answer.catch(() => {})
  return async () => {
    const found = await answer
    return found ? targetOf(found) : undefined
  }
}

export function targetOf({ accessibleName, ...known }: facts.FoundElement): TargetFacts {
  const { name } = known.fingerprint
  const { exact, part, target } = selectorsOf(known)
  // The whole name is unique as the part of it is, when both are of the element itself.
  const isOwn = endsWithPartOfName.test(known.generated) && withoutIcons(accessibleName) === name
  return { ...target, selector: isOwn ? exact : part }
}

const endsWithPartOfName = /internal:role=[\w-]+\[name="(?:\\.|[^"\\])*"i\]$/

/** Describes an element in any frame, which takes several calls. */
async function describeInFrame(element: Locator): Promise<TargetFacts> {
  const [normal, found] = await Promise.all([
    element.normalize(),
    element.evaluate(factsIn, undefined, { timeout: describeMs }),
  ])
  const { exact, part, target } = selectorsOf({ ...found, generated: selectorOf(normal) })
  // The name of a fingerprint is not always that of the accessibility tree.
  const isExact = exact !== part && (await locateAll(element.page(), parseSelector(exact)).count()) === 1
  return { ...target, selector: isExact ? exact : part }
}

/** Returns the generated selector in the form of a script: with the whole name of the element, and with a part of it. */
function selectorsOf({ css, generated, ...rest }: facts.ElementFacts & { readonly generated: string }) {
  const playwright = withoutText(generated, css)
  const { name } = rest.fingerprint
  return {
    exact: convertSelector(playwright, { names: name === undefined ? [] : [name] }),
    part: convertSelector(playwright, { names: [] }),
    target: { ...rest, playwright },
  }
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
