/** Clicks by text that hit no control, while a control has the same text. */
/** Selectors that find an element by its text, whatever it is. */
const byText = /(?:^|>>)\s*(?:text=|["'])|:(?:has-text|text|text-is|text-matches)\(/i

type Evaluate = (work: typeof controlOfSameText, wanted: string) => Promise<ReturnType<typeof controlOfSameText>>

/** Returns a warning about an element that is about to be clicked; undefined when it, or nothing else, is operable. */
export async function sameTextWarning(selector: string, evaluate: Evaluate): Promise<string | undefined> {
  if (!byText.test(selector)) return undefined
  const found = await evaluate(controlOfSameText, /text=\s*["']?(.*?)["']?\s*$/i.exec(selector)?.[1] ?? '')
  return found
    ? `${selector} is ${found.hit}, which is no control; use ${found.control} for the one with this text`
    : undefined
}

/** Runs in the page. Self-contained: only the text of the function reaches it. */
function controlOfSameText(node: Element, wanted: string): { hit: string; control: string } | null {
  const roles = ['button', 'link', 'tab', 'menuitem', 'option', 'checkbox', 'radio', 'switch', 'treeitem']
  const controls = `a[href], area[href], button, input:is([type=submit], [type=button], [type=reset]), summary, ${roles.map((role) => `[role=${role}]`).join(', ')}`
  const others =
    'input, select, textarea, label, [onclick], [tabindex], [contenteditable], [aria-haspopup], [draggable=true]'
  for (let at: Element | null = node; at; at = at.parentElement ?? (at.getRootNode() as ShadowRoot).host ?? null)
    if (at.matches(`${controls}, ${others}`) || getComputedStyle(at).cursor === 'pointer') return null
  const plain = (text: string | null) => (text ?? '').replaceAll(/\s+/g, ' ').trim()
  const texts = new Set([wanted, (node as HTMLElement).innerText].map((text) => plain(text).toLowerCase()))
  texts.delete('')
  const nameOf = (control: Element) =>
    plain(control.ariaLabel || (control as HTMLElement).innerText || (control as HTMLInputElement).value)
  const find = (root: Document | ShadowRoot): Element | undefined => {
    for (const one of root.querySelectorAll(controls))
      if (texts.has(nameOf(one).toLowerCase()) && one.checkVisibility({ visibilityProperty: true })) return one
    for (const { shadowRoot } of root.querySelectorAll('*')) {
      const inner = shadowRoot && find(shadowRoot)
      if (inner) return inner
    }
    return undefined
  }
  const control = find(document)
  if (!control) return null
  const ofTag = control.matches('a, area') ? 'link' : 'button'
  const role = control.getAttribute('role') ?? (control.localName === 'summary' ? null : ofTag)
  const name = JSON.stringify(nameOf(control))
  const selector = role ? `role=${role}[name=${name}]` : `summary >> text=${name}`
  return { hit: `the element <${node.localName}>`, control: selector }
}
