/** Labels that pages show in place of hidden checkboxes and radio buttons: they are listed as these. */
import { type AriaNode, type Children, labelOf, type Mark, type Marks, type Writable } from './aria.ts'
import { bits } from './flag-bits.ts'

/** Reads the flags of a mark for the hidden control of a label. */
export function checkFlags(flags: number): Pick<Mark, 'check'> {
  const role = (['checkbox', 'radio', 'switch'] as const).find((one) => flags & bits[one])
  return role ? { check: { role, checked: (flags & bits.checked) !== 0 } } : {}
}

/** Gives labels the role, name and state of their hidden controls. */
export function showChecks(node: Writable<AriaNode>, marks: Marks): void {
  const children = node.children ?? []
  const check = node.ref === undefined ? undefined : marks.get(node.ref)?.check
  if (check) {
    node.name = hiddenCheck(children)?.name || labelOf(node)
    node.role = check.role
    if (check.checked) node.checked = true
    delete node.text
    // The name has its text; links in it stay.
    node.children = withRefs(children)
    return
  }
  for (const child of children) if (typeof child !== 'string') showChecks(child, marks)
}

/** Returns the control itself where the tree has it, without a reference. */
function hiddenCheck(children: Children): AriaNode | undefined {
  for (const child of children) {
    if (typeof child === 'string') continue
    const isCheck = child.role === 'checkbox' || child.role === 'radio' || child.role === 'switch'
    const found = isCheck && child.ref === undefined ? child : hiddenCheck(child.children ?? [])
    if (found) return found
  }
  return undefined
}

/** Returns the links and controls among nodes and their descendants. */
const withRefs = (children: Children): AriaNode[] =>
  children.flatMap((child) => {
    if (typeof child === 'string') return []
    const isPlain = child.role === 'generic' || child.ref === undefined
    return isPlain ? withRefs(child.children ?? []) : [child]
  })
