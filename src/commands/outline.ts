/** Runs in a page: returns the structure of an element as data, for `get_content` of kind json. */
// oxlint-disable unicorn/consistent-function-scoping -- only the text of the function reaches the page

type Field = HTMLInputElement & { readonly selectedOptions?: Iterable<HTMLOptionElement> }

/** Builds an outline of an element and its content. Self-contained: only the text of the function reaches the page. */
export function outlineOf(root: Element) {
  const most = 500
  const words = (text: string | null | undefined) => (text ?? '').replaceAll(/\s+/g, ' ').trim()
  const all = <Kind extends Element>(css: string, within: Element = root): Kind[] => {
    const found: Kind[] = []
    const visit = (scope: Element | ShadowRoot) => {
      for (const element of scope.querySelectorAll<Kind>('*')) {
        if (found.length >= most) return
        if (element.matches(css)) found.push(element)
        if (element.shadowRoot) visit(element.shadowRoot)
      }
    }
    for (const scope of [within.shadowRoot, within]) if (scope) visit(scope)
    return found
  }
  const labelOf = (field: HTMLInputElement) =>
    words(field.getAttribute('aria-label') ?? [...(field.labels ?? [])].map((label) => label.textContent).join(' '))
  const fieldOf = (field: Field) => ({
    name: field.name || null,
    type: field.type,
    label: labelOf(field) || field.placeholder || null,
    // Never return the content of password fields.
    value: field.type === 'password' ? null : [...(field.selectedOptions ?? [field])].map((at) => at.value).join(', '),
    ...(['checkbox', 'radio'].includes(field.type) && { checked: field.checked }),
    required: field.required ?? false,
    ...(field instanceof HTMLSelectElement && {
      options: [...field.options].slice(0, most).map(({ value, label }) => ({ value, label })),
    }),
  })
  const rowsOf = (table: HTMLElement) => {
    const css = '[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]'
    const rows = table instanceof HTMLTableElement ? [...table.rows] : all<HTMLElement>('[role=row]', table)
    const cells = (row: HTMLElement) =>
      row instanceof HTMLTableRowElement ? [...row.cells] : all<HTMLElement>(css, row)
    return rows.slice(0, most).map((row) => cells(row).map((cell) => words(cell.innerText)))
  }
  const isPage = root === document.documentElement
  return {
    url: document.URL,
    title: document.title,
    language: document.documentElement.lang || null,
    description: document.querySelector<HTMLMetaElement>('meta[name=description]')?.content ?? null,
    headings: all<HTMLElement>('h1, h2, h3, h4, h5, h6').map((heading) => ({
      level: Number(heading.localName[1]),
      text: words(heading.innerText),
    })),
    links: all<HTMLAnchorElement>('a[href]').map((link) => ({ text: words(link.innerText), href: link.href })),
    images: all<HTMLImageElement>('img[src]').map(({ src, alt }) => ({ src, alt })),
    forms: all<HTMLFormElement>('form').map((form) => ({
      name: form.getAttribute('name') ?? (form.id || null),
      action: form.action,
      method: form.method,
      fields: all<Field>('input:not([type=hidden]), select, textarea', form).map(fieldOf),
    })),
    // Grids often contain the table that they describe.
    tables: all<HTMLElement>('table, :is([role=table], [role=grid], [role=treegrid]):has([role=row])').map((table) => ({
      caption: words(table instanceof HTMLTableElement ? table.caption?.innerText : table.ariaLabel) || null,
      rows: rowsOf(table),
    })),
    text: words(((isPage ? document.documentElement : root) as HTMLElement | null)?.innerText ?? root.textContent),
  }
}
