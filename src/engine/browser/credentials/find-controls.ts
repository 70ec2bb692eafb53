/** Runs in a page: reads its headings and controls, to find a question after the password. */

export interface Control {
  readonly text: string
  readonly kind: 'button' | 'link' | 'radio' | 'password' | 'other'
}

export interface PageControls {
  /** Title and headings. */
  readonly head: string
  readonly controls: readonly Control[]
  /** Elements of the controls. */
  readonly elements: readonly Element[]
}

/** Reads a page with at most `most` visible controls; of one with more, nothing. Self-contained: only its text reaches the page. */
export function findControls(most: number): PageControls {
  const every = (root: Document | ShadowRoot): Element[] =>
    [...root.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? every(one.shadowRoot) : [])])
  const isShown = (one: Element) => {
    const { width, height } = one.getBoundingClientRect()
    return width > 1 && height > 1 && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  }
  const textOf = (one: Element) => {
    const { labels, value, type } = one as HTMLInputElement
    const label = [...(labels ?? [])].map(({ textContent }) => textContent).join(' ')
    const own = one.matches('input') && /^(?:button|submit)$/.test(type) ? value : one.textContent
    return (one.ariaLabel || label || own || '').replaceAll(/\s+/g, ' ').trim().slice(0, 80)
  }
  const kindOf = (one: Element): Control['kind'] => {
    if (one.matches('input[type=radio], [role=radio]')) return 'radio'
    if (one.matches('input[type=password]')) return 'password'
    if (one.matches('button, [role=button], [type=submit], [type=button]')) return 'button'
    return one.matches('a, [role=link]') ? 'link' : 'other'
  }
  const all = every(document)
  // Pages hide radio buttons behind their labels.
  const isVisible = (one: Element) => isShown(one) || [...((one as HTMLInputElement).labels ?? [])].some(isShown)
  const controls =
    'a[href], button, select, textarea, input:not([type=hidden]), [role=button], [role=link], [role=radio]'
  const found = all.filter((one) => one.matches(controls) && isVisible(one))
  if (found.length > most) return { head: '', controls: [], elements: [] }
  const heads = all.filter((one) => one.matches('h1, h2, h3, [role=heading], legend') && isShown(one))
  return {
    head: [...heads.map(textOf), document.title].join('\n').slice(0, 2000),
    controls: found.map((one) => ({ text: textOf(one), kind: kindOf(one) })),
    elements: found,
  }
}
