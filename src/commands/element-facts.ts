/** Runs in a page: describes an element for the commands that inspect. */
// oxlint-disable unicorn/consistent-function-scoping -- only the text of the function reaches the page

/** Describes an element. Self-contained, because only the text of the function reaches the page. */
export function describeElement(element: Element) {
  const clip = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text)
  const parentOf = (node: Element): Element | null => {
    const root = node.getRootNode()
    return node.parentElement ?? (root instanceof ShadowRoot ? root.host : null)
  }
  const brief = (node: Element) =>
    node.localName + (node.id && `#${node.id}`) + [...node.classList].map((name) => `.${name}`).join('')
  const field = element as HTMLInputElement
  const isField = element.matches('input, textarea, select')
  const isCheck = element.matches('input[type=checkbox], input[type=radio]')
  const { left, top, width, height } = element.getBoundingClientRect()
  const style = getComputedStyle(element)
  const visible = width > 0 && height > 0 && style.visibility === 'visible' && element.checkVisibility()
  const enabled = !element.matches(':disabled') && !element.closest('[aria-disabled=true]')
  const [x, y] = [left + width / 2, top + height / 2]
  const root = element.getRootNode() as Document | ShadowRoot
  const hit = visible ? root.elementFromPoint(x, y) : null
  const cover = hit && hit !== element && !element.contains(hit) && !hit.contains(element) ? hit : null
  const chain: Element[] = []
  for (let at = parentOf(element); at; at = parentOf(at)) chain.push(at)
  const pathOf = (node: Element): string => {
    if (node.id && root.querySelectorAll(`#${CSS.escape(node.id)}`).length === 1) return `#${CSS.escape(node.id)}`
    const siblings = [...(node.parentElement ?? root).children].filter((other) => other.localName === node.localName)
    const place = siblings.length > 1 ? `:nth-of-type(${siblings.indexOf(node) + 1})` : ''
    return (node.parentElement ? `${pathOf(node.parentElement)} > ` : '') + node.localName + place
  }
  const names = [
    ...'display position visibility opacity color background-color font-family font-size font-weight'.split(' '),
    ...'line-height text-align cursor pointer-events overflow z-index margin padding border'.split(' '),
  ]
  return {
    basic: {
      tag: element.localName,
      id: element.id || null,
      classes: [...element.classList],
      text: clip((element instanceof HTMLElement ? element.innerText : (element.textContent ?? '')).trim(), 500),
      value: isField && field.type !== 'password' ? field.value : null,
      href: element instanceof HTMLAnchorElement && element.hasAttribute('href') ? element.href : null,
      visible,
      enabled,
    },
    more: {
      attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
      editable:
        enabled && ((isField && !field.readOnly) || (element instanceof HTMLElement && element.isContentEditable)),
      focused: root.activeElement === element,
      checked: isCheck ? field.checked : null,
      in_viewport: visible && left < innerWidth && top < innerHeight && left + width > 0 && top + height > 0,
      covered_by: cover && brief(cover),
      style: Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)])),
      path: pathOf(element),
      in_shadow_root: root instanceof ShadowRoot,
      ancestors: chain.map(brief),
      children: [...element.children].slice(0, 50).map(brief),
      html: clip(element.outerHTML, 10_000),
    },
  }
}
