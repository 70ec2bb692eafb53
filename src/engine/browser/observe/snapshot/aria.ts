/** Playwright's accessibility tree of a page, and the measurements of its elements. */

/** One node; text is in strings between the children, or in `text` if there is nothing else. */
export interface AriaNode {
  readonly role: string
  readonly name?: string
  readonly text?: string
  readonly children?: Children
  /** Playwright's own reference, for visible elements that receive pointer events. */
  readonly ref?: string
  readonly cursor?: string
  readonly checked?: boolean | 'mixed'
  readonly pressed?: boolean | 'mixed'
  readonly disabled?: boolean
  readonly expanded?: boolean
  readonly active?: boolean
  readonly selected?: boolean
  readonly invalid?: boolean | string
  readonly level?: number
  readonly placeholder?: string
  readonly ariaHidden?: boolean
  /** Set for text that people cannot see. */
  readonly hidden?: boolean
}

export type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

export type Children = readonly (AriaNode | string)[]

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Measurements of an element, in CSS pixels of the page's viewport, and facts that the tree does not contain. */
export interface Mark {
  readonly box: Box
  /** Border box of an iframe, whose `box` is that of its document. */
  readonly outer?: Box
  /** Distance from the viewport in pixels, 0 inside it. */
  readonly away: number
  /** Accepts clicks or text although its role does not say so. */
  readonly usable: boolean
  /** A password field. */
  readonly secret: boolean
  readonly focused: boolean
  /** Inside an open modal dialog. */
  readonly modal: boolean
  /** Inaccessible: behind an open modal dialog, or `inert`. */
  readonly blocked: boolean
  /** Root of an editor: `contenteditable`, or the element around an EditContext. */
  readonly editor: boolean
  /** Text of an editor. */
  readonly content?: string
  /** Set when the editor draws only a part of its text. */
  readonly partial?: true
  /** Unnamed read-only field that an editor uses internally. */
  readonly decoy: boolean
  /** Beyond the edge of the document, where no scrolling reaches. */
  readonly outside: boolean
  /** A frame of which people see nothing. */
  readonly hidden?: true
  /** Control that a label is shown in place of. */
  readonly check?: { readonly role: 'checkbox' | 'radio' | 'switch'; readonly checked: boolean }
  /** Playwright's references of the enclosing iframes, outermost first. */
  readonly frames: readonly string[]
}

export type Marks = ReadonlyMap<string, Mark>

const controls: ReadonlySet<string> = new Set([
  'button',
  'checkbox',
  'combobox',
  'gridcell',
  'link',
  'listbox',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
  'treeitem',
])

/** Placeholder for the value of a password field. */
export const hiddenValue = '•'.repeat(8)

/** Returns whether a node has the role of a control. */
export const hasControlRole = ({ role }: AriaNode): boolean => role !== 'gridcell' && controls.has(role)

/** Returns whether an element can be used: clicked, checked, selected or typed into. */
export function isControl(node: AriaNode, marks: Marks): boolean {
  const mark = node.ref === undefined ? undefined : marks.get(node.ref)
  if (!mark || mark.decoy) return false
  if (node.role === 'gridcell') return mark.usable || node.cursor === 'pointer'
  return controls.has(node.role) || node.cursor === 'pointer' || mark.usable
}

/** Roles whose elements are represented by their text and content. */
const plainRoles: ReadonlySet<string> = new Set([
  'article',
  'blockquote',
  'caption',
  'cell',
  'code',
  'definition',
  'deletion',
  'emphasis',
  'figure',
  'generic',
  'group',
  'img',
  'insertion',
  'listitem',
  'mark',
  'paragraph',
  'row',
  'rowgroup',
  'separator',
  'strong',
  'subscript',
  'superscript',
  'term',
  'time',
])

/** Returns whether an outline of the page needs the position of an element. */
export const needsPosition = ({ role, cursor }: AriaNode): boolean => cursor === 'pointer' || !plainRoles.has(role)

/** Collects the texts of nodes, including the names of nodes without text. */
export function textsOf(children: Children): string[] {
  return children.flatMap((child) => {
    if (typeof child === 'string') return [child]
    if (child.hidden) return []
    // The content of a field does not name its container, and may be a password.
    if (isField(child)) return child.name ? [child.name] : []
    if (child.text !== undefined) return [child.text]
    const inner = textsOf(child.children ?? [])
    return inner.length > 0 ? inner : child.name ? [child.name] : []
  })
}

/** Returns the label of a control: its accessible name, else its placeholder or text. */
export function labelOf(node: AriaNode): string {
  if (node.name) return node.name
  if (isField(node)) return node.placeholder ?? ''
  return node.text ?? textsOf(node.children ?? []).join(' ')
}

const fields: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'spinbutton', 'slider'])

/** Returns whether the text of a node is an editable value. */
export const isField = ({ role }: AriaNode): boolean => fields.has(role)

export type NodeWithRef = AriaNode & { readonly ref: string }

/** Iterates over all nodes with a reference, in document order. */
export function* nodesWithRef(nodes: Children): Generator<NodeWithRef> {
  for (const node of nodes) {
    if (typeof node === 'string') continue
    if (node.ref !== undefined) yield node as NodeWithRef
    yield* nodesWithRef(node.children ?? [])
  }
}
