/** Run in a page: read the text of an editor, as it keeps it where the page gives access to that, else as drawn. */
// oxlint-disable unicorn/consistent-function-scoping -- only the text of the function reaches the page

export interface EditorText {
  readonly text: string
  /** Whether this is all of the text: editors for code draw only the lines in view. */
  readonly isWhole: boolean
  /** Whether white space is as the editor keeps it, not as drawn by a style that collapses it. */
  readonly isExact: boolean
}

/**
 * Returns the text of the editor for code that an element is, belongs to as its field for keys, or contains; null for
 * others. Self-contained: only the text of the function reaches the page.
 */
export function codeText(node: Node): EditorText | null {
  type Monaco = { getDomNode(): Node | null; getModel(): { getValue(): string } | null }
  const element = node as Element
  const plain = (text: string) => text.replaceAll('\u00A0', ' ').replaceAll(/[\u200B\uFEFF]/g, '')
  const whole = (text: string) => ({ text: text.replaceAll('\r\n', '\n'), isWhole: true, isExact: true })
  const within = (css: string) => {
    const found = element.closest?.(css) ?? null
    const inside = found ? [found] : [...(element.querySelectorAll?.(css) ?? [])]
    return inside.length === 1 ? (inside[0] as HTMLElement) : null
  }
  const byCode = within('.CodeMirror') as (HTMLElement & { CodeMirror?: { getValue(): string } }) | null
  if (byCode) {
    if (byCode.CodeMirror) return whole(byCode.CodeMirror.getValue())
    const top = byCode.querySelector<HTMLElement>('.CodeMirror-sizer > div')
    const [drawn, all] = ['.CodeMirror-lines', '.CodeMirror-sizer'].map(
      (css) => byCode.querySelector(css)?.clientHeight,
    )
    const lines = [...byCode.querySelectorAll('.CodeMirror-code .CodeMirror-line')].map((line) =>
      plain(line.textContent ?? ''),
    )
    const isFolded = byCode.querySelector('.CodeMirror-foldmarker, .CodeMirror-widget') !== null
    return {
      text: lines.join('\n'),
      isExact: true,
      isWhole: top?.style.top === '0px' && drawn! >= all! - 1 && !isFolded,
    }
  }
  const byMonaco = within('.monaco-editor[data-uri]')
  if (byMonaco) {
    const { monaco } = globalThis as { monaco?: { editor?: { getEditors?(): readonly Monaco[] } } }
    const model = monaco?.editor
      ?.getEditors?.()
      .find((one) => one.getDomNode() === byMonaco)
      ?.getModel()
    if (model) return whole(model.getValue())
    const topOf = (line: Element) => Number.parseFloat((line as HTMLElement).style.top)
    const lines = [...byMonaco.querySelectorAll('.view-lines > .view-line')].toSorted((a, b) => topOf(a) - topOf(b))
    const end = lines.at(-1)?.getBoundingClientRect().bottom ?? 0
    // A wrapped line has one number, and folded ones have none.
    const numbers = [...byMonaco.querySelectorAll('.line-numbers')].filter((at) => at.textContent !== '')
    const isDrawn = lines.length > 0 && topOf(lines[0]!) === 0 && end < byMonaco.getBoundingClientRect().bottom
    const isWhole = isDrawn && numbers.length === lines.length && Number(numbers.at(-1)?.textContent) === lines.length
    return { text: lines.map((line) => plain(line.textContent ?? '')).join('\n'), isWhole, isExact: true }
  }
  return null
}

/**
 * Returns the text of the editable element that an element is or contains; null for others, and for several editors.
 * Self-contained: only the text of the function reaches the page. Without `instanceof`, which fails for elements that a page
 * has moved into a frame.
 */
export function drawnText(node: Node): EditorText | null {
  type View = { readonly view?: { readonly state: { readonly doc: { toString(): string } } } }
  const { localName, control } = node as HTMLLabelElement
  const element = (localName === 'label' && control ? control : node) as HTMLElement
  const plain = (text: string) => text.replaceAll('\u00A0', ' ').replaceAll(/[\u200B\uFEFF]/g, '')
  const keepsSpace = (space: string) => /^pre(?!-line)|^break-spaces/.test(space)
  /** Lines as drawn; elements that hold a place, such as the last `<br>` of a paragraph, are no text. */
  const linesOf = (root: HTMLElement): string[] => {
    const lines: string[] = []
    let isOpen = false
    const add = (text: string) => {
      if (!isOpen) lines.push('')
      isOpen = true
      lines[lines.length - 1] += text
    }
    const addText = (text: string, space: string) => {
      const isPre = keepsSpace(space)
      const shown = isPre ? text : text.replaceAll(/[ \t\n\r]+/g, ' ')
      if (!isPre && !isOpen && shown === ' ') return
      const [first, ...others] =
        isPre && space !== 'pre-line' ? shown.split('\n') : [isOpen ? shown : shown.trimStart()]
      if (first || isOpen || others.length > 0) add(first!)
      for (const line of others) {
        isOpen = false
        if (line || line !== others.at(-1)) add(line)
      }
    }
    const visit = (at: Element) => {
      const style = getComputedStyle(at)
      if (style.display === 'none' || at.matches('.cm-placeholder, [data-slate-placeholder], script, style')) return
      if (at.localName === 'br') {
        if (!isOpen) lines.push('')
        isOpen = false
        return
      }
      const isBlock = !/^inline|^contents/.test(style.display) && at !== root
      if (isBlock) isOpen = false
      const count = lines.length
      for (const child of at.childNodes) {
        if (child.nodeType === 3) addText((child as Text).data, style.whiteSpace)
        else if (child.nodeType === 1) visit(child as Element)
      }
      if (isBlock && lines.length === count) lines.push('')
      if (isBlock) isOpen = false
    }
    visit(root)
    return lines.map((line) => plain(line))
  }

  const isHost = (at: HTMLElement) => at.isContentEditable && !at.parentElement?.isContentEditable
  const inside = element.isContentEditable
    ? [element]
    : [...(element.querySelectorAll?.<HTMLElement>('*') ?? [])].filter(isHost)
  const [host, ...others] = inside
  if (!host || others.length > 0) return null
  const { cmTile, cmView } = host as { cmTile?: View; cmView?: View }
  const view = cmTile?.view ?? cmView?.view
  if (view) return { text: view.state.doc.toString(), isWhole: true, isExact: true }
  const isExact = keepsSpace(getComputedStyle(host).whiteSpace)
  return { text: linesOf(host).join('\n'), isExact, isWhole: !host.querySelector('.cm-gap, .cm-foldPlaceholder') }
}

/** Reads the text of an editor with an evaluation in its page. */
export const readEditor = async (
  evaluate: (work: (node: Node) => EditorText | null) => Promise<EditorText | null>,
): Promise<EditorText | null> => (await evaluate(codeText)) ?? (await evaluate(drawnText))
