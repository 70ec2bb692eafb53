/** Default view of a page: all text and controls, in document order. */
import { type AriaNode, type Children, hasControlRole, isControl, isField, type Marks } from './aria.ts'
import {
  controlEntry,
  editorEntry,
  type Entry,
  entry,
  headingLabel,
  hiddenEntry,
  markOf,
  noticeRoles,
  optionsOf,
  textsOfEntry,
  textEntry,
} from './entries.ts'
import { squeeze } from '../../../../core/text/pieces.ts'

/** Roles of inline text. */
const inlineRoles: ReadonlySet<string> = new Set([
  'code',
  'deletion',
  'emphasis',
  'insertion',
  'mark',
  'strong',
  'subscript',
  'superscript',
  'text',
  'time',
])
/** Roles that, without a name, only group or repeat their content. */
const wrappers: ReadonlySet<string> = new Set([
  'application',
  'document',
  'figure',
  'form',
  'generic',
  'group',
  'img',
  'list',
  'menu',
  'menubar',
  'none',
  'paragraph',
  'presentation',
  'region',
  'rowgroup',
  'separator',
  'tablist',
  'tabpanel',
  'toolbar',
  ...inlineRoles,
])
const items: ReadonlySet<string> = new Set(['article', 'listitem'])
/** Roles of fields, which usually have a label beside them. */
const labelled: ReadonlySet<string> = new Set([
  'checkbox',
  'combobox',
  'listbox',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'textbox',
])
const cells: ReadonlySet<string> = new Set(['cell', 'columnheader', 'gridcell', 'rowheader'])
/** Maximum length of content that names an unnamed control; longer content is shown below it. */
const nameChars = 300

export const pageView = (tree: Children, marks: Marks): readonly Entry[] => entriesOf(tree, undefined, marks)

/** Converts children to entries; text that continues through inline elements is one entry. */
function entriesOf(children: Children, parent: AriaNode | undefined, marks: Marks): Entry[] {
  const result: Entry[] = []
  const run: string[] = []
  const flush = () => {
    if (run.length > 0) result.push(textEntry(run.join(' '), parent, run.length))
    run.length = 0
  }
  for (const child of children) {
    const text = inlineText(child, marks)
    if (text !== undefined) {
      if (text !== '') run.push(text)
      continue
    }
    flush()
    result.push(...entriesOfNode(child as AriaNode, marks))
  }
  flush()
  const kept = result.filter((each, at) => !isLabel(each, [result[at - 1], result[at + 1]]))
  return result.length === 1 ? kept : kept.map((each) => (each.node === parent ? { ...each, isLoose: true } : each))
}

/** Returns whether a text only repeats the name of the field beside it. */
const isLabel = ({ kind, tail }: Entry, beside: readonly (Entry | undefined)[]): boolean =>
  kind === 'text' && beside.some((each) => each !== undefined && labelled.has(each.role) && each.name === tail)

/** Returns the text of a string or of an inline element that contains only text. */
function inlineText(child: AriaNode | string, marks: Marks): string | undefined {
  if (typeof child === 'string') return squeeze(child)
  if (!inlineRoles.has(child.role) || child.name || child.hidden || isControl(child, marks)) return undefined
  if (child.text !== undefined) return squeeze(child.text)
  const parts = (child.children ?? []).map((inner) => inlineText(inner, marks))
  return parts.includes(undefined) ? undefined : parts.filter(Boolean).join(' ')
}

function entriesOfNode(node: AriaNode, marks: Marks): Entry[] {
  const mark = markOf(node, marks)
  if (mark?.decoy) return []
  if (node.hidden && node.role === 'text') return [hiddenEntry(node)]
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
  return [named(noticeRoles.has(node.role) ? 'notice' : 'structure', node, name, content)]
}

/** Returns whether an unnamed item needs no line: a single control, or a heading at its start, is enough. */
const needsNoLine = ([first, ...others]: readonly Entry[]): boolean =>
  first !== undefined && (first.kind === 'heading' || (others.length === 0 && first.kind !== 'text'))

const contentOf = (node: AriaNode, marks: Marks): Entry[] => {
  if (node.role === 'row') return rowContent(node, marks)
  if (node.text === undefined) return entriesOf(node.children ?? [], node, marks)
  const text = squeeze(node.text)
  return text ? [textEntry(text, node)] : []
}

/** Returns the name of a heading, empty if it only repeats its content, such as a link. */
const headingName = (node: AriaNode): string => (node.name || !node.children ? headingLabel(node) : '')

/** Builds an entry without content that repeats its name. */
function named(kind: Entry['kind'], node: AriaNode, name: string, content: readonly Entry[]): Entry {
  const isContainer = kind === 'structure' || kind === 'notice'
  // Drop the content of a container only if the name equals all of it: a region's name may equal its heading.
  const rest = isContainer
    ? said(content) === name && content.every(isPlain)
      ? []
      : content
    : beyondName(name, content)
  if (name === '' && kind === 'heading' && rest.every(isPlain)) return entry(kind, node, said(rest), [])
  const [only] = rest
  if (rest.length === 1 && isText(only!))
    return entry(kind, node, name, [], { tail: only!.tail!, pieces: only!.pieces ?? 1 })
  return entry(kind, node, name, rest)
}

/** Removes plain text that the name already contains, in order, so that no text counts twice. */
function beyondName(name: string, content: readonly Entry[]): Entry[] {
  if (name === '') return [...content]
  let at = 0
  return content.filter((each) => {
    if (!isPlain(each)) return true
    const text = said([each])
    const found = name.indexOf(text, at)
    if (text === '' || found === -1) return true
    at = found + text.length
    return false
  })
}

/** Returns whether an entry is text that people can see. */
const isText = ({ kind, states }: Entry): boolean => kind === 'text' && states.length === 0

/** Returns whether an entry is only text: no control, no reference, nothing below. */
const isPlain = (item: Entry): boolean => {
  const { kind, ref, below, states } = item
  if (ref !== undefined || below.length > 0) return false
  return isText(item) || kind === 'image' || kind === 'heading' || (kind === 'structure' && states.length === 0)
}

const said = (entries: readonly Entry[]): string => entries.flatMap(textsOfEntry).join(' ')

function control(node: AriaNode, marks: Marks): Entry {
  const mark = markOf(node, marks)
  const name = squeeze(node.name ?? '')
  if (isField(node)) {
    const result = controlEntry(node, marks, name || squeeze(node.placeholder ?? ''))
    return { ...result, below: fieldContent(node, marks) }
  }
  if (mark?.editor) return editor(node, marks)
  const result = controlEntry(node, marks, name)
  if (optionsOf(node).length > 0) return result
  if (node.role === 'combobox' && node.text !== undefined) return result
  const content = contentOf(node, marks)
  const isShort = content.every(isPlain) && said(content).length <= nameChars
  if (name === '' && isShort && node.role !== 'combobox') return { ...result, name: said(content) }
  const rest = beyondName(name, content)
  const [only] = rest
  return rest.length === 1 && isText(only!) ? { ...result, tail: only!.tail! } : { ...result, below: rest }
}

/** Returns the content of a field besides its text: an editor can contain links and lists. */
function fieldContent(node: AriaNode, marks: Marks): Entry[] {
  if (node.text !== undefined || !node.children) return []
  const content = contentOf(node, marks)
  return markOf(node, marks)?.content === undefined ? content : content.filter((each) => !isPlain(each))
}

/** Builds the entry of an editable element without the role of a field. */
function editor(node: AriaNode, marks: Marks): Entry {
  const { field, ...result } = editorEntry(node, marks)
  const content = contentOf(node, marks).filter((inner) => inner.node !== field || inner.below.length > 0 || !field)
  const text = markOf(node, marks)?.content
  if (text !== undefined)
    return { ...result, ...(squeeze(text) && { tail: squeeze(text) }), below: content.filter((each) => !isPlain(each)) }
  return content.length > 0 && content.every(isPlain)
    ? { ...result, tail: said(content) }
    : { ...result, below: content }
}

/** Builds a row: one line with cells separated by bars if it is all text, else text and controls are below it. */
function row(node: AriaNode, marks: Marks): Entry[] {
  const content = rowContent(node, marks)
  const name = squeeze(node.name ?? '')
  const repeats = letters(name) === letters(said(content))
  const result = named('structure', node, repeats ? '' : name, content)
  return result.name === '' && !result.tail && result.below.length === 0 && result.states.length === 0 ? [] : [result]
}

const letters = (text: string): string => text.replaceAll(/[\s|]/g, '')

function rowContent(node: AriaNode, marks: Marks): Entry[] {
  const result: Entry[] = []
  const texts: string[] = []
  const flush = () => {
    if (texts.some(Boolean)) result.push(textEntry(squeeze(texts.join(' | ')), node, texts.filter(Boolean).length))
    texts.length = 0
  }
  if (node.text !== undefined) return [textEntry(squeeze(node.text), node)]
  for (const child of node.children ?? []) {
    if (typeof child === 'string' && squeeze(child) === '') continue
    const content = cellContent(child, marks)
    if (content.every(isText)) {
      texts.push(said(content))
      continue
    }
    for (const inner of content) {
      if (isText(inner)) texts.push(inner.tail!)
      else {
        flush()
        result.push(inner)
      }
    }
  }
  flush()
  return result
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
