/** The default view of a page: all of its text and controls, in document order. */
import { type AriaNode, hasControlRole, isControl, isField, type Marks } from './aria.ts'
import {
  controlEntry,
  editorEntry,
  type Entry,
  entry,
  headingLabel,
  markOf,
  optionsOf,
  saidBy,
  squeeze,
  textEntry,
} from './entries.ts'

type Children = readonly (AriaNode | string)[]

/** Text within text. */
const inlineRoles: ReadonlySet<string> = new Set([
  'code', 'deletion', 'emphasis', 'insertion', 'mark', 'strong', 'subscript', 'superscript', 'text', 'time',
]) // prettier-ignore
/** Without a name these only group, or repeat what their content says. */
const wrappers: ReadonlySet<string> = new Set([
  'application', 'document', 'figure', 'form', 'generic', 'group', 'img', 'list', 'menu', 'menubar', 'none',
  'paragraph', 'presentation', 'region', 'rowgroup', 'separator', 'tablist', 'tabpanel', 'toolbar', ...inlineRoles,
]) // prettier-ignore
const items: ReadonlySet<string> = new Set(['article', 'listitem'])
const notices: ReadonlySet<string> = new Set(['alert', 'alertdialog', 'dialog', 'status', 'tooltip'])
/** Roles of fields, which mostly have their label beside them. */
const labelled: ReadonlySet<string> = new Set([
  'checkbox', 'combobox', 'listbox', 'radio', 'searchbox', 'slider', 'spinbutton', 'switch', 'textbox',
]) // prettier-ignore
const cells: ReadonlySet<string> = new Set(['cell', 'columnheader', 'gridcell', 'rowheader'])
/** Longer content of a control without a name stands below it instead of naming it. */
const nameChars = 300

export function pageView(tree: Children, marks: Marks): readonly Entry[] {
  return entriesOf(tree, undefined, marks)
}

/** Entries of children; text that runs on through inline elements is one entry. */
function entriesOf(children: Children, parent: AriaNode | undefined, marks: Marks): Entry[] {
  const made: Entry[] = []
  const run: string[] = []
  const flush = () => {
    if (run.length > 0) made.push(textEntry(run.join(' '), parent, run.length))
    run.length = 0
  }
  for (const child of children) {
    const text = inlineText(child, marks)
    if (text !== undefined) {
      if (text !== '') run.push(text)
      continue
    }
    flush()
    made.push(...entriesOfNode(child as AriaNode, marks))
  }
  flush()
  const kept = made.filter((each, at) => !isLabel(each, [made[at - 1], made[at + 1]]))
  return made.length === 1 ? kept : kept.map((each) => (each.node === parent ? { ...each, isLoose: true } : each))
}

/** Whether a text only repeats the name of the field beside it. */
const isLabel = ({ kind, tail }: Entry, beside: readonly (Entry | undefined)[]): boolean =>
  kind === 'text' && beside.some((each) => each !== undefined && labelled.has(each.role) && each.name === tail)

/** Text of a string or of an inline element with nothing but text in it. */
function inlineText(child: AriaNode | string, marks: Marks): string | undefined {
  if (typeof child === 'string') return squeeze(child)
  if (!inlineRoles.has(child.role) || child.name || isControl(child, marks)) return undefined
  if (child.text !== undefined) return squeeze(child.text)
  const parts = (child.children ?? []).map((inner) => inlineText(inner, marks))
  return parts.includes(undefined) ? undefined : parts.filter(Boolean).join(' ')
}

function entriesOfNode(node: AriaNode, marks: Marks): Entry[] {
  const mark = markOf(node, marks)
  if (mark?.decoy) return []
  if (isControl(node, marks) || hasControlRole(node)) return [control(node, marks)]
  if (node.role === 'heading') return [named('heading', node, headingName(node), contentOf(node, marks))]
  if (node.role === 'row') return row(node, marks)
  const content = contentOf(node, marks)
  const name = squeeze(node.name ?? '')
  if (node.role === 'img' && name) return [named('image', node, name, content)]
  const isStateless = !node.selected && !node.expanded && !node.checked
  const isRepeated = content.length === 1 && content[0]!.name === name
  if (wrappers.has(node.role) && (name === '' || isRepeated) && isStateless) return content
  if (items.has(node.role) && name === '' && needsNoLine(content)) return content
  if (node.role === 'iframe') return [entry('structure', node, name, content, node.ref ? { ref: node.ref } : {})]
  if (name === '' && content.length === 0 && isStateless) return []
  return [named(notices.has(node.role) ? 'notice' : 'structure', node, name, content)]
}

/** One control stands for itself, and a heading shows where something begins. */
const needsNoLine = ([first, ...others]: readonly Entry[]): boolean =>
  first !== undefined && (first.kind === 'heading' || (others.length === 0 && first.kind !== 'text'))

const contentOf = (node: AriaNode, marks: Marks): Entry[] => {
  if (node.role === 'row') return rowContent(node, marks)
  if (node.text === undefined) return entriesOf(node.children ?? [], node, marks)
  const text = squeeze(node.text)
  return text ? [textEntry(text, node)] : []
}

/** The name of a heading; one that only repeats what is in it, such as a link, is left to that. */
const headingName = (node: AriaNode): string => (node.name || !node.children ? headingLabel(node) : '')

/** An entry with content, of which nothing is repeated that its name says. */
function named(kind: Entry['kind'], node: AriaNode, name: string, content: readonly Entry[]): Entry {
  const isContainer = kind === 'structure' || kind === 'notice'
  // Only a name that is all of the content repeats it: that of a region is said by its heading, too.
  const rest = isContainer ? (said(content) === name && content.every(isPlain) ? [] : content) : beyondName(name, content) // prettier-ignore
  if (name === '' && kind === 'heading' && rest.every(isPlain)) return entry(kind, node, said(rest), [])
  const [only] = rest
  if (rest.length === 1 && only!.kind === 'text')
    return entry(kind, node, name, [], { tail: only!.tail!, pieces: only!.pieces ?? 1 })
  return entry(kind, node, name, rest)
}

/** Content without the plain text that a name says already, read in the same order: no text counts twice. */
function beyondName(name: string, content: readonly Entry[]): Entry[] {
  if (name === '') return [...content]
  let at = 0
  return content.filter((made) => {
    if (!isPlain(made)) return true
    const text = said([made])
    const found = name.indexOf(text, at)
    if (text === '' || found === -1) return true
    at = found + text.length
    return false
  })
}

/** Whether an entry is text and nothing else: no control, no reference, nothing below. */
const isPlain = ({ kind, ref, below, states }: Entry): boolean =>
  ref === undefined &&
  below.length === 0 &&
  (kind === 'text' || kind === 'image' || kind === 'heading' || (kind === 'structure' && states.length === 0))

const said = (entries: readonly Entry[]): string => entries.flatMap(saidBy).join(' ')

function control(node: AriaNode, marks: Marks): Entry {
  const mark = markOf(node, marks)
  const name = squeeze(node.name ?? '')
  if (isField(node)) {
    const made = controlEntry(node, marks, { name: name || squeeze(node.placeholder ?? '') })
    return { ...made, below: fieldContent(node, marks) }
  }
  if (mark?.editor) return editor(node, marks)
  const made = controlEntry(node, marks, { name })
  if (optionsOf(node).length > 0) return made
  if (node.role === 'combobox' && node.text !== undefined) return made
  const content = contentOf(node, marks)
  const isShort = content.every(isPlain) && said(content).length <= nameChars
  if (name === '' && isShort && node.role !== 'combobox') return { ...made, name: said(content) }
  const rest = beyondName(name, content)
  const [only] = rest
  return rest.length === 1 && only!.kind === 'text' ? { ...made, tail: only!.tail! } : { ...made, below: rest }
}

/** What is inside a field besides its text: an editor can contain links and lists. */
function fieldContent(node: AriaNode, marks: Marks): Entry[] {
  if (node.text !== undefined || !node.children) return []
  const content = contentOf(node, marks)
  return markOf(node, marks)?.content === undefined ? content : content.filter((made) => !isPlain(made))
}

/** An element that is edited in place and has no role that says so. */
function editor(node: AriaNode, marks: Marks): Entry {
  const { field, ...made } = editorEntry(node)
  const content = contentOf(node, marks).filter((inner) => inner.node !== field || inner.below.length > 0 || !field)
  return content.length > 0 && content.every(isPlain) ? { ...made, tail: said(content) } : { ...made, below: content }
}

/** A row is one line when it is all text, cells separated by bars; else its text and controls stand below it. */
function row(node: AriaNode, marks: Marks): Entry[] {
  const content = rowContent(node, marks)
  const name = squeeze(node.name ?? '')
  const repeats = letters(name) === letters(said(content))
  const made = named('structure', node, repeats ? '' : name, content)
  return made.name === '' && !made.tail && made.below.length === 0 && made.states.length === 0 ? [] : [made]
}

const letters = (text: string): string => text.replaceAll(/[\s|]/g, '')

function rowContent(node: AriaNode, marks: Marks): Entry[] {
  const made: Entry[] = []
  const texts: string[] = []
  const flush = () => {
    if (texts.some(Boolean)) made.push(textEntry(squeeze(texts.join(' | ')), node, texts.filter(Boolean).length))
    texts.length = 0
  }
  if (node.text !== undefined) return [textEntry(squeeze(node.text), node)]
  for (const child of node.children ?? []) {
    if (typeof child === 'string' && squeeze(child) === '') continue
    const content = cellContent(child, marks)
    if (content.every(({ kind }) => kind === 'text')) {
      texts.push(said(content))
      continue
    }
    for (const inner of content) {
      if (inner.kind === 'text') texts.push(inner.tail!)
      else {
        flush()
        made.push(inner)
      }
    }
  }
  flush()
  return made
}

function cellContent(child: AriaNode | string, marks: Marks): Entry[] {
  if (typeof child === 'string') return [textEntry(squeeze(child), undefined)]
  const isCell = cells.has(child.role) && !child.selected && !child.expanded && !isControl(child, marks)
  if (!isCell) return entriesOfNode(child, marks)
  const content = contentOf(child, marks)
  const name = squeeze(child.name ?? '')
  const isSaid = name === '' || letters(said(content)).includes(letters(name))
  return isSaid ? content : [textEntry(name, child), ...beyondName(name, content)]
}
