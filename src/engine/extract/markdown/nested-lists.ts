/**
 * Rewrites the lists of editors as nested lists: Word has paragraphs with markers, Quill and Google Docs have flat lists
 * whose names have the level, and Notion has a list for each item.
 */
import { childElements, type ElementNode, findElement, hasClass, isElement, rawText, type TreeNode } from '../tree.ts'
import { replaceRuns } from '../../../core/text/pieces.ts'

type ListTag = 'ul' | 'ol'

interface Entry {
  /** Entries with the same name can be in one list. */
  readonly name: string
  readonly level: number
  readonly tag: ListTag
  /** Attributes of its list. */
  readonly attributes: ElementNode['attributes']
  readonly item: ElementNode
}

/** Returns the same tree if it has no such lists. */
export const withNestedLists = (root: ElementNode): ElementNode => (holdsEntries(root) ? rewritten(root) : root)

function holdsEntries(element: ElementNode): boolean {
  let before: ElementNode | undefined
  for (const child of element.children) {
    if (!isElement(child)) continue
    if (before && isSingle(before) && isSingle(child)) return true
    if (isParagraphOfWord(child) || isFlat(child) || holdsEntries(child)) return true
    before = child
  }
  return false
}

function rewritten(element: ElementNode): ElementNode {
  const children: TreeNode[] = []
  let run: Entry[] = []
  const flush = () => {
    children.push(...listsOf(run))
    run = []
  }
  for (const node of element.children) {
    if (run.length > 0 && !isElement(node) && node.text.trim() === '') continue
    const entries = isElement(node) ? entriesOf(node) : []
    if (run.length > 0 && !(entries[0] && continues(run, entries[0]))) flush()
    run.push(...entries)
    if (entries.length === 0) children.push(isElement(node) ? rewritten(node) : node)
  }
  flush()
  return { ...element, children }
}

/** Whether an entry belongs to the list before it; a numbered list of one item has to go on with the next number. */
function continues(run: readonly Entry[], { name, tag, attributes }: Entry): boolean {
  const last = run.at(-1)!
  if (name !== last.name) return false
  return (
    !name.startsWith('single') ||
    tag === 'ul' ||
    Number(attributes['start']) === Number(run[0]!.attributes['start'] ?? 1) + run.length
  )
}

/** Returns the items of a list of an editor; none for other elements. */
function entriesOf(element: ElementNode): Entry[] {
  const { attributes } = element
  if (isParagraphOfWord(element)) return [entryOfWord(element)]
  if (!isList(element)) return []
  const { tag } = element
  const items = childElements(element)
  const entry = (name: string, level: number, item: ElementNode, own: ListTag = tag): Entry => ({
    name,
    level,
    tag: own,
    attributes,
    item: rewritten(item),
  })
  if (isFlat(element)) {
    const kix = kixList.exec(attributes['class'] ?? '')
    if (kix) return items.map((item) => entry(`kix ${kix[1]}`, Number(kix[2]), item))
    return items.map((item) => {
      const kind = item.attributes['data-list']
      return entry('quill', indentOf(item), item, kind === undefined ? tag : kind === 'ordered' ? 'ol' : 'ul')
    })
  }
  const name = `single ${tag} ${attributes['class'] ?? ''} ${attributes['type'] ?? ''}`
  return isSingle(element) ? [entry(name, 0, items[0]!)] : []
}

const isList = (element: ElementNode): element is ElementNode & { tag: ListTag } =>
  element.tag === 'ul' || element.tag === 'ol'

/** Whether an element is a list of one item with a name or a number, and has nothing else. */
const isSingle = (element: ElementNode): boolean =>
  isList(element) &&
  (element.attributes['class'] !== undefined || element.attributes['start'] !== undefined) &&
  element.children.every((child) => isElement(child) || child.text.trim() === '') &&
  childElements(element).length === 1 &&
  childElements(element)[0]!.tag === 'li'

const kixList = /(?:^|\s)lst-(kix_\S+)-(\d)(?:\s|$)/
const indent = /^ql-indent-(\d)$/

/** Whether the items of a list are at several levels, as in Quill and Google Docs. */
const isFlat = (element: ElementNode): boolean =>
  isList(element) &&
  (kixList.test(element.attributes['class'] ?? '') ||
    childElements(element).some((item) => item.attributes['data-list'] !== undefined || hasClass(item, indent))) &&
  childElements(element).every(({ tag }) => tag === 'li')

const indentOf = ({ attributes }: ElementNode): number =>
  Number(/\bql-indent-(\d)\b/.exec(attributes['class'] ?? '')?.[1] ?? 0)

const wordLevel = /mso-list:\s*l(\d+)\s+level(\d)/i
const wordMarker = /mso-list:\s*ignore/i

const isParagraphOfWord = (element: ElementNode): boolean =>
  element.tag === 'p' &&
  (wordLevel.test(element.attributes['style'] ?? '') ||
    (hasClass(element, wordName) && spacedMarker.test(rawText(element))))

const isMarker = ({ attributes }: ElementNode): boolean => wordMarker.test(attributes['style'] ?? '')

const wordName = /^MsoListParagraph(?:CxSp(?:First|Middle|Last))?$/
/** A marker with the no-break spaces that Word writes behind it; other programs remove its style, and keep its text. */
const spacedMarker =
  /^\s{0,999}([·•§Øü▪●○■➢✓–-]|o|\(?(?:\d{1,9}|[a-zA-Z]|[ivxIVX]{1,9})[.)])[^\S\u00a0]{0,99}\u00a0\s{0,999}/

/** Markers that number a list: `1.`, `(b)`, `iv)`. */
const counter = /^\(?(\d{1,9}|[a-z]{1,2}|[ivxlc]{1,15})[.)]$/i

function entryOfWord(paragraph: ElementNode): Entry {
  const [, list = '', level = '1'] = wordLevel.exec(paragraph.attributes['style'] ?? '') ?? []
  const found = findElement(paragraph, isMarker)
  const [spaced = '', bare = ''] = found ? [] : (spacedMarker.exec(rawText(paragraph)) ?? [])
  const marker = found ? replaceRuns(rawText(found), /\s+/g, '') : bare
  const number = counter.exec(marker)?.[1]
  const text = found ? withoutMarker(paragraph) : withoutStart(paragraph, spaced.length)
  // Other markers are bullets of symbol fonts; numbers such as "1.2." stay.
  const isBullet = marker.length <= 1 || number !== undefined || !/\w/.test(marker)
  const attributes: Record<string, string> = {}
  const value: Record<string, string> = {}
  if (number !== undefined) {
    const type = typeOf(number)
    if (type !== undefined) attributes['type'] = type
    value['value'] = String(numberOf(number, type))
  }
  const children = isBullet ? text : [{ text: `${marker} ` }, ...text]
  const tag = number === undefined ? 'ul' : 'ol'
  return {
    name: `word ${list}`,
    level: Number(level),
    tag,
    attributes,
    item: { tag: 'li', attributes: value, children },
  }
}

/** Returns the `type` of a list that letters or Roman numerals number. */
function typeOf(number: string): string | undefined {
  if (/^\d/.test(number)) return undefined
  // Word repeats letters after z: aa, bb, cc.
  const lower = /^(?:[ivx]+|(?!cc$|ll$)[ivxlc]{2,})$/i.test(number) ? 'i' : 'a'
  return number === number.toLowerCase() ? lower : lower.toUpperCase()
}

/** Returns the number that the digits, letters or Roman numerals of a marker stand for. */
function numberOf(number: string, type: string | undefined): number {
  if (type === undefined) return Number(number)
  const signs = [...number.toLowerCase()]
  if (type.toLowerCase() === 'a') return signs.reduce((sum, sign) => sum * 26 + parseInt(sign, 36) - 9, 0)
  const values = signs.map((sign) => ({ i: 1, v: 5, x: 10, l: 50, c: 100 })[sign] ?? 0)
  return values.reduce((sum, value, at) => (value < (values[at + 1] ?? 0) ? sum - value : sum + value), 0)
}

const withoutMarker = ({ children }: ElementNode): TreeNode[] =>
  children.flatMap((child) =>
    !isElement(child) ? child : isMarker(child) ? [] : { ...child, children: withoutMarker(child) },
  )

/** Returns the children of an element without so many characters at their beginning. */
function withoutStart({ children }: ElementNode, length: number): TreeNode[] {
  let left = length
  return children.map((child) => {
    const { length: own } = isElement(child) ? rawText(child) : child.text
    const cut = Math.min(own, left)
    left -= cut
    if (cut === 0) return child
    return isElement(child) ? { ...child, children: withoutStart(child, cut) } : { text: child.text.slice(cut) }
  })
}

/** Returns lists of entries; deeper ones are in the item before them. */
function listsOf(entries: readonly Entry[]): ElementNode[] {
  const lists: ElementNode[] = []
  const level = entries.reduce((least, entry) => Math.min(least, entry.level), Infinity)
  let numbered = 0
  for (let at = 0; at < entries.length;) {
    const entry = entries[at]!
    let end = at + 1
    while (end < entries.length && entries[end]!.level !== level) end++
    // The first items may be deeper than others.
    const inner = listsOf(entries.slice(entry.level > level ? at : at + 1, end))
    at = end
    if (entry.level > level) {
      lists.push(...inner)
      continue
    }
    const { tag, attributes } = entry
    const item = { ...entry.item, children: [...entry.item.children, ...inner] }
    const last = lists.at(-1)
    if (last?.tag === tag && last.attributes['type'] === attributes['type']) last.children.push(item)
    else {
      // Numbers go on after bullets between them.
      const goesOn = tag === 'ol' && numbered > 0 && attributes['start'] === undefined
      lists.push({
        tag,
        attributes: goesOn ? { ...attributes, start: String(numbered + 1) } : attributes,
        children: [item],
      })
    }
    if (tag === 'ol') numbered = Number(item.attributes['value'] ?? numbered + 1)
  }
  return lists
}
