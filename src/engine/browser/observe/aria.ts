/** Playwright's accessibility tree of a page as it comes, and what was measured of its elements. */

/** One node; text stands between children as strings, or in `text` when it is all there is. */
export interface AriaNode {
  readonly role: string
  readonly name?: string
  readonly text?: string
  readonly children?: readonly (AriaNode | string)[]
  /** Playwright's own reference: visible elements that take the pointer have one. */
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
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Where an element is, in CSS pixels of the page's viewport, and what the tree does not tell about it. */
export interface Mark {
  readonly box: Box
  /** Of an iframe: its border box; the other one is that of its document. */
  readonly outer?: Box
  /** 0 inside the viewport, else how many pixels away from it. */
  readonly away: number
  /** Takes clicks or text though its role does not say so. */
  readonly usable: boolean
  /** A password field. */
  readonly secret: boolean
  readonly focused: boolean
  /** Inside an open modal dialog. */
  readonly modal: boolean
  /** Out of reach: behind an open modal dialog, or `inert`. */
  readonly blocked: boolean
  /** Root of an editor: `contenteditable`, or the element around an EditContext. */
  readonly editor: boolean
  /** Content of an editor where the tree leaves it out. */
  readonly content?: string
  /** Read-only field without a name that an editor keeps for itself. */
  readonly decoy: boolean
  /** Playwright's references of the iframes around it, outermost first. */
  readonly frames: readonly string[]
}

export type Marks = ReadonlyMap<string, Mark>

const controls: ReadonlySet<string> = new Set([
  'button', 'checkbox', 'combobox', 'gridcell', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
  'option', 'radio', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem',
]) // prettier-ignore

/** Stands for what is in a password field. */
export const hiddenValue = '•'.repeat(8)

/** Whether a role is that of a control, whatever its element can do. */
export const hasControlRole = ({ role }: AriaNode): boolean => role !== 'gridcell' && controls.has(role)

/** Whether an element can be used: clicked, ticked, chosen or written into. */
export function isControl(node: AriaNode, marks: Marks): boolean {
  const mark = node.ref === undefined ? undefined : marks.get(node.ref)
  if (!mark || mark.decoy) return false
  if (node.role === 'gridcell') return mark.usable || node.cursor === 'pointer'
  return controls.has(node.role) || node.cursor === 'pointer' || mark.usable
}

/** Roles whose elements are told about by their text and by what is in them. */
const plainRoles: ReadonlySet<string> = new Set([
  'article', 'blockquote', 'caption', 'cell', 'code', 'definition', 'deletion', 'emphasis', 'figure', 'generic', 'group',
  'img', 'insertion', 'listitem', 'mark', 'paragraph', 'row', 'rowgroup', 'separator', 'strong', 'subscript',
  'superscript', 'term', 'time',
]) // prettier-ignore

/** Whether an outline of the page has to know where an element is, by what the tree alone tells of it. */
export const needsPlace = ({ role, cursor }: AriaNode): boolean => cursor === 'pointer' || !plainRoles.has(role)

/** Every piece of text below nodes, names of nodes without text included. */
export function textsOf(children: readonly (AriaNode | string)[]): string[] {
  return children.flatMap((child) => {
    if (typeof child === 'string') return [child]
    // The content of a field is no name of what is around it; it can be a password.
    if (isField(child)) return child.name ? [child.name] : []
    if (child.text !== undefined) return [child.text]
    const inner = textsOf(child.children ?? [])
    return inner.length > 0 ? inner : child.name ? [child.name] : []
  })
}

/** What a control is called: its accessible name, else its text, else what stands in it while it is empty. */
export function labelOf(node: AriaNode): string {
  if (node.name) return node.name
  if (isField(node)) return node.placeholder ?? ''
  return node.text ?? textsOf(node.children ?? []).join(' ')
}

const fields: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'spinbutton', 'slider'])

/** Whether the text of a node is a value that can be changed. */
export const isField = ({ role }: AriaNode): boolean => fields.has(role)

/** Every node with a reference, in document order. */
export function* nodesWithRef(nodes: readonly (AriaNode | string)[]): Generator<AriaNode & { readonly ref: string }> {
  for (const node of nodes) {
    if (typeof node === 'string') continue
    if (node.ref !== undefined) yield node as AriaNode & { readonly ref: string }
    yield* nodesWithRef(node.children ?? [])
  }
}
