/** Runs in a page: returns its state, for `capture_state`. */
// oxlint-disable unicorn/consistent-function-scoping -- only the text of the function reaches the page

/** Returns the state of the page. Self-contained: only the text of the function reaches the page. */
export function pageState() {
  const storage = (area: 'localStorage' | 'sessionStorage'): Record<string, string> | null => {
    // A page with an opaque origin throws when its storage is accessed.
    try {
      return Object.fromEntries(Object.entries(globalThis[area]))
    } catch {
      return null
    }
  }
  const seen: Record<string, number> = {}
  const spelled = (element: Element) => {
    const place = (seen[element.localName] = (seen[element.localName] ?? -1) + 1)
    if (element.id) return `#${CSS.escape(element.id)}`
    const name = element.getAttribute('name')
    const of = `${element.localName}${element.localName === 'input' ? ':not([type=hidden])' : ''}`
    return name ? `${element.localName}[name=${JSON.stringify(name)}]` : `${of} >> nth=${place}`
  }
  let active = document.activeElement
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
  const fields = [...document.querySelectorAll<HTMLInputElement>('input:not([type=hidden]), textarea, select')]
  const { scrollWidth, scrollHeight } = document.documentElement
  return {
    url: document.URL,
    title: document.title,
    ready_state: document.readyState,
    viewport: { width: innerWidth, height: innerHeight, device_scale_factor: devicePixelRatio },
    scroll: {
      x: Math.round(scrollX),
      y: Math.round(scrollY),
      max_x: Math.max(0, scrollWidth - innerWidth),
      max_y: Math.max(0, scrollHeight - innerHeight),
    },
    focused: active && active !== document.body ? active.localName + (active.id && `#${active.id}`) : null,
    fields: fields.slice(0, 500).map((field) => ({
      selector: spelled(field),
      type: field.type,
      name: field.name || null,
      value: field.type === 'password' ? null : field.value,
      checked: ['checkbox', 'radio'].includes(field.type) ? field.checked : null,
    })),
    local_storage: storage('localStorage'),
    session_storage: storage('sessionStorage'),
  }
}
