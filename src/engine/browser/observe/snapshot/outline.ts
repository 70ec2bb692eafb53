/** Short view of a page: controls, headings and landmarks, with the text that distinguishes them. */
import {
  type AriaNode,
  type Children,
  hasControlRole,
  isControl,
  isField,
  labelOf,
  type Marks,
  textsOf,
} from './aria.ts'
import {
  clip,
  controlEntry,
  editorEntry,
  type Entry,
  entry,
  headingLabel,
  markOf,
  noticeRoles,
  optionsOf,
  textsOfEntry,
  textEntry,
} from './entries.ts'
import { squeeze } from '../../../../core/text/pieces.ts'

/** Result for a part of the tree: entries, and text that no entry shows yet. */
interface Part {
  readonly entries: readonly Entry[]
  readonly loose: readonly string[]
}

const labelChars = 100
const contextChars = 80
const noticeChars = 300
/** Maximum number of controls in a container that serves as their context. */
const contextControls = 10

const landmarks: ReadonlySet<string> = new Set([
  'banner',
  'complementary',
  'contentinfo',
  'form',
  'main',
  'navigation',
  'region',
  'search',
  'dialog',
  'alertdialog',
  'group',
  'menu',
  'menubar',
  'tablist',
  'tabpanel',
  'toolbar',
  'tree',
  'radiogroup',
  'iframe',
  'table',
  'grid',
  'list',
])
/** Landmarks that are shown only with a name. */
const onlyNamed: ReadonlySet<string> = new Set([
  'form',
  'group',
  'region',
  'list',
  'table',
  'grid',
  'menu',
  'toolbar',
  'tabpanel',
])
const items: ReadonlySet<string> = new Set(['row', 'listitem', 'article'])

export const outline = (tree: Children, marks: Marks): readonly Entry[] => partOf(tree, marks).entries

function partOf(children: Children, marks: Marks): Part {
  const parts = children.map((child) =>
    typeof child === 'string' ? { entries: [], loose: [child] } : nodePart(child, marks),
  )
  return { entries: parts.flatMap(({ entries }) => entries), loose: parts.flatMap(({ loose }) => loose) }
}

function nodePart(node: AriaNode, marks: Marks): Part {
  // Text that people cannot see describes no control.
  if (node.hidden) return { entries: [], loose: [] }
  if (isControl(node, marks) || isNamedControl(node)) return { entries: [control(node, marks)], loose: [] }
  const { role } = node
  if (role === 'heading') return { entries: [heading(node, marks)], loose: [] }
  const inner = partOf(node.children ?? [], marks)
  const loose = node.text === undefined ? looseOf(node, inner) : [node.text]
  if (noticeRoles.has(role)) return { entries: [notice(node, inner, loose)], loose: [] }
  if (landmarks.has(role) && (node.name || !onlyNamed.has(role))) {
    if (inner.entries.length === 0 && role !== 'iframe') return { entries: [], loose }
    const shownRef = role === 'iframe' && node.ref !== undefined ? { ref: node.ref } : {}
    return { entries: [entry('structure', node, node.name ?? '', inner.entries, shownRef)], loose: [] }
  }
  if (role === 'img') return { entries: [], loose: node.name ? [node.name] : [] }
  return context(node, { entries: inner.entries, loose })
}

/** Roles whose name is their text, which is then no text of its own. */
const namedByText: ReadonlySet<string> = new Set(['cell', 'columnheader', 'rowheader', 'gridcell', 'row'])

/** Returns the text of a node that no entry shows, or its name: the tree omits a text that equals the name. */
function looseOf({ role, name }: AriaNode, { entries, loose }: Part): readonly string[] {
  const isText = entries.length === 0 || !namedByText.has(role)
  return loose.length === 0 && name && isText ? [name] : loose
}

/** Returns whether a node is a named control without a reference, such as one without a box. */
const isNamedControl = (node: AriaNode): boolean =>
  node.ref === undefined && hasControlRole(node) && squeeze(labelOf(node)) !== ''

/** Adds a line with the text of a container that distinguishes its controls. */
function context(node: AriaNode, { entries, loose }: Part): Part {
  const count = controlsIn(entries)
  // The text of an item without controls describes no control.
  if (count === 0) return { entries, loose: items.has(node.role) ? [] : loose }
  if (count > contextControls) return { entries, loose: [] }
  const text = unsaid(entries, loose)
  if (text === '') return { entries, loose: [] }
  const label = clip(text, contextChars)
  if (items.has(node.role)) return { entries: [entry('structure', node, label, entries)], loose: [] }
  return { entries: [textEntry(label, node), ...entries], loose: [] }
}

function control(node: AriaNode, marks: Marks): Entry {
  if (markOf(node, marks)?.editor && !isField(node)) {
    const { field: _, ...item } = editorEntry(node, marks)
    const content = markOf(node, marks)?.content ?? node.text ?? textsOf(node.children ?? []).join(' ')
    const text = clip(squeeze(content), labelChars)
    return { ...item, name: clip(item.name, labelChars), ...(text && { tail: text }) }
  }
  const hasOptions = optionsOf(node).length > 0
  // The options are no name.
  const label = hasOptions ? (node.name ?? '') : labelOf(node)
  const item = controlEntry(node, marks, clip(squeeze(label), labelChars), labelChars)
  const inner = partOf(node.children ?? [], marks).entries.flatMap(controlsOnly)
  return { ...item, below: hasOptions ? [] : inner }
}

function heading(node: AriaNode, marks: Marks): Entry {
  const inner = partOf(node.children ?? [], marks).entries
  const label = headingLabel(node)
  // A link that is the whole heading already shows the text.
  const isShown = inner.length === 1 && inner[0]!.name === label
  return entry('heading', node, isShown ? '' : clip(label, labelChars), inner)
}

function notice(node: AriaNode, { entries }: Part, loose: readonly string[]): Entry {
  const shown = clip(unsaid(entries, loose), noticeChars)
  const item = entry('notice', node, node.name ?? '', entries)
  if (shown === '') return item
  return entries.length === 0 ? { ...item, tail: shown } : { ...item, below: [textEntry(shown, node), ...entries] }
}

/** Joins the texts that the entries do not contain. */
function unsaid(entries: readonly Entry[], loose: readonly string[]): string {
  const shownTexts = entries.flatMap(textsOfEntry)
  const texts = loose.map(squeeze).filter((text) => text !== '' && !shownTexts.some((shown) => shown.includes(text)))
  return texts.join(' ')
}

const isUsed = ({ kind }: Entry): boolean => kind === 'control' || kind === 'link'

const controlsIn = (entries: readonly Entry[]): number =>
  entries.reduce((sum, item) => sum + (isUsed(item) ? 1 : 0) + controlsIn(item.below), 0)

const controlsOnly = (item: Entry): Entry[] => (isUsed(item) ? [item] : item.below.flatMap(controlsOnly))
