/** Text that people cannot see, as the page has marked it: it becomes nodes of its own. */
import { type AriaNode, type Children, hasControlRole, isField, type Marks, type Writable } from './aria.ts'
import { hiddenEnd, hiddenStart } from '../visibility/hidden-marks.ts'
import { replaceRuns, squeeze } from '../../../../core/text/pieces.ts'

/** Longest label for assistive technology, such as that of an icon, that is left in the name of an element. */
const labelChars = 40

interface Context {
  readonly marks: Marks
  /** Returns whether the page shows a text anywhere. */
  readonly isShown: (text: string) => boolean
  /** Returns whether a text is the name of a control. */
  readonly isLabel: (text: string) => boolean
  /** Whether people see nothing of the document. */
  readonly isGone: boolean
}

/**
 * Separates hidden text from the rest: nodes keep what is visible of their text and name, and get nodes with `hidden` for
 * the other parts. Short ones stay in the names of controls, which they describe for people who do not see the page.
 */
export function separateHidden(tree: Children, facts: Marks): Children {
  let shown: string | undefined
  const isShown = (text: string) => (shown ??= letters(visibleText(tree))).includes(letters(text))
  let labels: ReadonlySet<string> | undefined
  const isLabel = (text: string) => text.length <= labelChars && (labels ??= new Set(labelsIn(tree))).has(text)
  return separated(tree, { marks: facts, isShown, isLabel, isGone: false })
}

/** Returns the hidden texts of a tree. */
export const hiddenTexts = (tree: Children): string[] =>
  tree.flatMap((node) => {
    if (typeof node === 'string') return []
    return [...(node.hidden ? [node.text ?? node.name ?? ''] : []), ...hiddenTexts(node.children ?? [])]
  })

const separated = (children: Children, context: Context): Children =>
  children.flatMap((child) => {
    if (typeof child !== 'string') {
      separateIn(child, context)
      return [child]
    }
    if (!context.isGone && !child.includes(hiddenStart)) return [child]
    return context.isLabel(plain(child).trim()) ? [plain(child)] : partsOf(child, context.isGone)
  })

function separateIn(node: Writable<AriaNode>, context: Context): void {
  const { marks: facts, isShown } = context
  const isGone = context.isGone || (node.ref !== undefined && facts.get(node.ref)?.hidden === true)
  // A value is what a field has, however the page shows it.
  const content = node.text === undefined || isField(node) ? (node.children ?? []) : [node.text]
  if (isControl(node) && !isGone && markedChars(node) <= labelChars) {
    unmark(node)
    return
  }
  const own = separated(content, { ...context, isGone })
  const [visible, hidden] = nameOf(node, isGone, isShown)
  if (node.name !== undefined) node.name = visible
  if (hidden === '') return setContent(node, own)
  if (node.role === 'heading' && visible === '') {
    node.name = hidden
    node.hidden = true
    return setContent(
      node,
      own.filter((child) => typeof child !== 'string' && !child.hidden),
    )
  }
  const isSaid = letters(hiddenTexts(own).join('')).includes(letters(hidden))
  setContent(node, isSaid ? own : [...own, hiddenNode(hidden)])
}

/** Returns the visible and the hidden part of a node's name. */
function nameOf(node: AriaNode, isGone: boolean, isShown: Context['isShown']): [visible: string, hidden: string] {
  const name = node.name ?? ''
  const isLong = name.length > labelChars
  if (isControl(node) || node.role === 'heading' || name.includes(hiddenStart)) {
    const all = partsOf(name, isGone && (isLong || node.role === 'heading'))
    const visible = all.filter((part) => typeof part === 'string')
    return [squeeze(visible.join(' ')), hiddenTexts(all).join(' ')]
  }
  // The name of an image stands for what people see.
  const isLabel = isLong && node.role !== 'img' && !isShown(name)
  return isLabel ? ['', name] : [name, '']
}

function setContent(node: Writable<AriaNode>, content: Children): void {
  const [only] = content
  if (isField(node) && node.text !== undefined) return
  delete node.text
  delete node.children
  if (content.length === 1 && typeof only === 'string') node.text = only
  else if (content.length > 0) node.children = content
}

/** Splits a text into its visible parts and nodes for its hidden ones. */
function partsOf(text: string, isGone: boolean): Children {
  if (isGone) return /\S/.test(text) ? [hiddenNode(plain(text))] : []
  if (!text.includes(hiddenStart)) return [text]
  return text.split(hiddenStart).flatMap((part, at) => {
    const end = at === 0 ? -1 : part.indexOf(hiddenEnd)
    const [inside, outside] = end === -1 ? ['', part] : [part.slice(0, end), part.slice(end + 1)]
    return [...(/\S/.test(inside) ? [hiddenNode(inside)] : []), ...(/\S/.test(outside) ? [plain(outside)] : [])]
  })
}

const hiddenNode = (text: string): AriaNode => ({ role: 'text', hidden: true, text: text.trim() })

const labelsIn = (children: Children): string[] =>
  children.flatMap((child) => {
    if (typeof child === 'string') return []
    return [...(hasControlRole(child) && child.name ? [plain(child.name)] : []), ...labelsIn(child.children ?? [])]
  })

const isControl = (node: AriaNode): boolean => hasControlRole(node) || node.cursor === 'pointer'

const marks = new RegExp(`[${hiddenStart}${hiddenEnd}]`, 'g')
const plain = (text: string): string => text.replaceAll(marks, '')
const markedPart = new RegExp(`${hiddenStart}[^${hiddenEnd}]*`, 'g')

/** Counts the characters that are marked in the name of a node or in its content. */
function markedChars(node: AriaNode): number {
  const count = (text: string) => (text.match(markedPart) ?? []).reduce((sum, part) => sum + part.length - 1, 0)
  return Math.max(count(node.name ?? ''), count(textsIn([node]).join('')))
}

/** Returns the texts of nodes as the page has marked them. */
const textsIn = (children: Children): string[] =>
  children.flatMap((child) => {
    if (typeof child === 'string') return [child]
    return child.text === undefined ? textsIn(child.children ?? []) : [child.text]
  })

function unmark(node: Writable<AriaNode>): void {
  if (node.name !== undefined) node.name = plain(node.name)
  if (node.text !== undefined) node.text = plain(node.text)
  if (!node.children) return
  node.children = node.children.map((child) => {
    if (typeof child === 'string') return plain(child)
    unmark(child)
    return child
  })
}

/** Returns what a page shows: texts, and the names that are made of texts. */
function visibleText(children: Children): string {
  const texts = children.flatMap((child) => {
    if (typeof child === 'string') return [child]
    const isNamedByText = isControl(child) || child.role === 'heading' || child.role === 'cell'
    return [...(isNamedByText ? [child.name ?? ''] : []), child.text ?? '', visibleText(child.children ?? [])]
  })
  return texts.join(' ').replaceAll(markedPart, '')
}

const letters = (text: string): string => replaceRuns(text, /\s+/g, '')
