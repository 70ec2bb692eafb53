/** Runs in an isolated world of every document: finds elements for actions, checks them and watches the input. */
import { checkState, find, findAll, type Match, UnclearInPage } from './find.page.ts'
import { aim, confirm, listen } from './hit.page.ts'
import type { DirectAnswer, DirectRequest } from './request.ts'
import { observeFromStart, untilStill } from './still.page.ts'

export interface DirectApi {
  readonly document: Document
  readonly run: typeof run
  readonly confirm: typeof confirm
  readonly findAll: typeof findAll
  /** Returns the number of keys that have reached the document. */
  readonly keys: () => number
}

const registry = globalThis as { baxDirect?: DirectApi }

/** Element of the current action. */
let held: (Match & { readonly id: number }) | null = null
let keys = 0

/** Installs the API of the engine, once per document. */
export function installDirect(): void {
  listen()
  if (registry.baxDirect?.document === document) return
  addEventListener('keydown', ({ isTrusted }) => void (keys += Number(isTrusted)), { capture: true, passive: true })
  observeFromStart()
  registry.baxDirect = { document, run, confirm, findAll, keys: () => keys }
}

/** Runs a function on the element of an action, or prepares its input. */
async function run(
  request: DirectRequest,
  work?: (element: Element, input: unknown) => unknown,
  input?: unknown,
  given?: Element,
): Promise<DirectAnswer> {
  try {
    const known = held?.id === request.id ? held : null
    if (known && !request.input) return { matches: known.matches, value: await work?.(known.element, input) }
    if (Date.now() > request.until) throw new UnclearInPage('late')
    if (given && given.getRootNode() !== document) throw new UnclearInPage('it is in a shadow tree')
    const match = known ?? (given ? { element: given, matches: 1 } : find(request.plain!, request))
    const { element, matches } = match
    if (request.checked !== undefined) {
      if (isChecked(element) === request.checked) return { matches }
      if (!request.checked && (element as HTMLInputElement).type === 'radio') throw new UnclearInPage('a radio button')
    }
    if (request.input) await untilStill(element)
    checkState(element, request.needs)
    if (Date.now() > request.until) throw new UnclearInPage('late')
    if (request.input) return { matches, point: aim(element, request) }
    held = { ...match, id: request.id }
    return { matches, value: await work?.(element, input) }
  } catch (error) {
    if (error instanceof UnclearInPage) return { unclear: error.message }
    throw error
  }
}

function isChecked(element: Element): boolean {
  if (element instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(element.type)) return element.checked
  throw new UnclearInPage('not a checkbox')
}
