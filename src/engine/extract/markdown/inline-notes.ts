/** Moves notes out of sentences: LaTeXML, Tufte CSS and Distill have them where they are referred to. */
import { type ElementNode, findElement, hasClass, isElement, type TreeNode } from '../tree.ts'

const noteName = /^(?:ltx_role_(?:foot|end)note|sidenote|marginnote)$/
/** The number of a note, which LaTeXML repeats in its text. */
const markName = /^(?:ltx_note_mark|ltx_tag_note)$/
const idPrefix = 'inline-note-'

const isInlineNote = (element: ElementNode): boolean =>
  element.tag === 'd-footnote' || (element.tag === 'span' && hasClass(element, noteName))

/** Replaces inline notes with links to a list of notes at the end; returns the same tree if there are none. */
export function withListedNotes(root: ElementNode): ElementNode {
  if (!findElement(root, isInlineNote)) return root
  const notes: ElementNode[] = []
  const visit = (element: ElementNode): ElementNode => ({ ...element, children: element.children.map(replaced) })
  const replaced = (node: TreeNode): TreeNode => {
    if (!isElement(node)) return node
    if (!isInlineNote(node)) return visit(node)
    const id = `${idPrefix}${notes.length + 1}`
    notes.push({ tag: 'li', attributes: { id }, children: withoutMarks(node).children })
    return { tag: 'a', attributes: { href: `#${id}` }, children: [{ text: String(notes.length) }] }
  }
  const { children } = visit(root)
  return { ...root, children: [...children, { tag: 'ol', attributes: { class: 'footnotes' }, children: notes }] }
}

const isMark = (node: TreeNode): boolean => isElement(node) && hasClass(node, markName)

function withoutMarks(element: ElementNode): ElementNode {
  const children = element.children.filter((child) => !isMark(child))
  return { ...element, children: children.map((child) => (isElement(child) ? withoutMarks(child) : child)) }
}
