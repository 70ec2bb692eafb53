/** Runs in Playwright's isolated world: lists the buttons, links and fields that a page shows. */
import { allElements } from '../elements/describe.page.ts'

export interface Control {
  readonly role: string
  readonly name: string
  /** Number of controls with this role and name. */
  readonly count: number
}

export interface Controls {
  /** In the order of the document. */
  readonly listed: readonly Control[]
  /** Number of controls that are not listed. */
  readonly omitted: number
}

/** The part of Playwright's script in the page that is needed. */
interface Injected {
  readonly utils: {
    getAriaRole(element: Element): string | null
    getElementAccessibleNameText(element: Element, includeHidden: boolean): string
    isElementVisible(element: Element): boolean
  }
}

const [mostElements, mostControls, mostListed, nameChars] = [20_000, 1000, 40, 80]

const control =
  'a[href], area[href], button, summary, input:not([type=hidden]), select, textarea, [contenteditable=""], [contenteditable=true], ' +
  ['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'textbox', 'combobox', 'searchbox', 'slider']
    .map((role) => `[role=${role}]`)
    .join(', ')

export function shownControls({ utils }: Injected): Controls {
  const found = controlsIn(document).filter((element) => utils.isElementVisible(element))
  const listed = new Map<string, Control>()
  let omitted = Math.max(0, found.length - mostControls)
  for (const element of found.slice(0, mostControls)) {
    const role = utils.getAriaRole(element) ?? kindOf(element)
    const name = cut(utils.getElementAccessibleNameText(element, false))
    const key = `${role} ${name}`
    const known = listed.get(key)
    if (known || listed.size < mostListed) listed.set(key, { role, name, count: (known?.count ?? 0) + 1 })
    else omitted += 1
  }
  return { listed: [...listed.values()], omitted }
}

/** Returns the controls of a document and of its frames of the same origin. */
const controlsIn = (source: Document): Element[] =>
  allElements(source, mostElements).flatMap((element) => {
    if (element.localName !== 'iframe') return element.matches(control) ? [element] : []
    const inner = (element as HTMLIFrameElement).contentDocument
    return inner ? controlsIn(inner) : []
  })

/** Returns the kind of a field without a role, such as `password field`. */
const kindOf = (element: Element): string =>
  element.localName === 'input' ? `${(element as HTMLInputElement).type} field` : element.localName

const cut = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > nameChars ? `${line.slice(0, nameChars - 1)}…` : line
}
