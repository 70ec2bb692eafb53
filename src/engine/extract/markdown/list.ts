/** Reads lists: items, misplaced nodes between them, check boxes, terms and definitions. */
import { childElements, type ElementNode, hasClass, hasText, isElement, type TreeNode } from '../tree.ts'
import { letters, roman } from '../numerals.ts'
import { isSkipped } from './context.ts'

export interface ItemGroup {
  /** The `<li>`; undefined for nodes before the first one. */
  readonly item: ElementNode | undefined
  readonly nodes: TreeNode[]
}

/** Returns the items of a list; a list between two items belongs to the first of them. */
export function itemsOf(list: ElementNode): ItemGroup[] {
  const groups: ItemGroup[] = []
  const add = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes) {
      if (isElement(node) ? isSkipped(node) : node.text.trim() === '') continue
      if (!isElement(node) || (groups.length === 0 && !holdsItems(node)))
        groups.push({ item: undefined, nodes: [node] })
      else if (node.tag === 'li') groups.push({ item: node, nodes: [...node.children] })
      else if (holdsItems(node)) add(node.children)
      else groups.at(-1)!.nodes.push(node)
    }
  }
  add(list.children)
  return groups
}

/** Whether an element is an item, or contains items without being a list. */
const holdsItems = (node: ElementNode): boolean =>
  node.tag === 'li' || (!/^[uo]l$/.test(node.tag) && childElements(node).some(({ tag }) => tag === 'li'))

/** Returns `[x] ` or `[ ] ` when the item is a task, or begins with a check box; else ''. */
export function taskMark(item: ElementNode, list: ElementNode): string {
  const isDone = stateOfTask(item, list) ?? stateOfBox(item)
  return isDone === undefined ? '' : isDone ? '[x] ' : '[ ] '
}

const taskList = /^(?:.*[-_])?(?:tasks?|todos?|to-do|check)[-_]?(?:list)?$/i
const doneName = /^(?:.*[-_])?(?:checked|done|completed?)$/i

/** Returns the mark of a check box that only shows a state; '' for those that people can change. */
export const taskBox = (box: ElementNode): string =>
  isCheckMark(box) && box.attributes['disabled'] !== undefined ? (isChecked(box) ? '[x]' : '[ ]') : ''

/** Returns whether an item of a list of tasks says that it is done; undefined for other items. */
function stateOfTask(item: ElementNode, list: ElementNode): boolean | undefined {
  const { attributes } = item
  const state =
    attributes['data-checked'] ??
    list.attributes['data-checked'] ??
    attributes['aria-checked'] ??
    /^(?:un)?checked$/.exec(attributes['data-list'] ?? '')?.[0]
  if (state !== undefined) return state === 'true' || state === 'checked'
  if (attributes['data-inline-task-id'] !== undefined) return hasClass(item, doneName)
  return hasClass(list, taskList) && hasClass(item, doneName) ? true : undefined
}

/** Returns whether the check box at the beginning of an item is checked; undefined if there is none. */
function stateOfBox(item: ElementNode): boolean | undefined {
  for (const child of item.children) {
    if (!isElement(child)) {
      if (child.text.trim() === '') continue
      return undefined
    }
    const state = isCheckMark(child) ? isChecked(child) : undefined
    if (state !== undefined) return state
    const inner = stateOfBox(child)
    if (inner !== undefined || hasText(child) || child.tag === 'img') return inner
  }
  return undefined
}

const boxName = /^(?:.*[-_])?(?:check-?box|chcklst-box)(?:[-_].*)?$/i

/** Whether an element shows the state of a task: a check box, or an element that looks like one. */
export function isCheckMark(element: ElementNode): boolean {
  const { tag, attributes } = element
  if (tag === 'input') return /^checkbox$/i.test(attributes['type'] ?? '')
  return (
    (attributes['role'] === 'checkbox' || hasClass(element, boxName)) &&
    !hasText(element) &&
    childElements(element).every(isCheckMark)
  )
}

const isChecked = (box: ElementNode): boolean =>
  box.attributes['checked'] !== undefined ||
  box.attributes['aria-checked'] === 'true' ||
  hasClass(box, /^(?:.*-)?(?:checked|on)$/i)

/** Whether a list can follow a line of text without a blank line between them. */
export function interruptsParagraph(list: ElementNode): boolean {
  if (list.tag !== 'ol') return true
  const groups = itemsOf(list)
  const { number, letters: isLettered } = new ItemNumbers(list, groups).of(groups[0]?.item)
  return number === 1 || isLettered !== undefined
}

/** The marker of an item: its number, or letters that Markdown has no lists for. */
export interface ItemMarker {
  readonly number: number
  readonly letters: string | undefined
}

/** Numbers the items of a list as browsers do, with `start`, `reversed`, `value` and `type`. */
export class ItemNumbers {
  readonly #step: number
  readonly #type: string | undefined
  #next: number

  constructor(list: ElementNode, groups: readonly ItemGroup[]) {
    const { start, reversed, type = '', style = '' } = list.attributes
    this.#step = reversed === undefined ? 1 : -1
    this.#next = integer(start) ?? (reversed === undefined ? 1 : groups.filter(({ item }) => item).length)
    const [, styled = ''] = /(?:^|;)\s*list-style(?:-type)?:\s*([\w-]+)/i.exec(style) ?? []
    this.#type = counterTypes.get(styled.toLowerCase()) ?? (/^[aAiI]$/.test(type.trim()) ? type.trim() : undefined)
  }

  /** Returns the marker that an item has if it is the next one. */
  of(item: ElementNode | undefined): ItemMarker {
    const number = integer(item?.attributes['value']) ?? this.#next
    const isPlain = this.#type === undefined && number >= 0 && number < 1e9
    return { number, letters: isPlain ? undefined : `${countedBy(this.#type, number)}.` }
  }

  /** Counts an item that is written. */
  count({ number }: ItemMarker): void {
    this.#next = number + this.#step
  }
}

const counterTypes = new Map([
  ['lower-alpha', 'a'],
  ['lower-latin', 'a'],
  ['upper-alpha', 'A'],
  ['upper-latin', 'A'],
  ['lower-roman', 'i'],
  ['upper-roman', 'I'],
])

function integer(text: string | undefined): number | undefined {
  const [digits] = /^\s*[-+]?\d{1,9}/.exec(text ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Writes a number as letters or in Roman numerals, where browsers do: others stay digits. */
function countedBy(type: string | undefined, number: number): string {
  const lower = type?.toLowerCase()
  const text = number < 1 ? '' : lower === 'a' ? letters(number) : lower === 'i' && number < 4000 ? roman(number) : ''
  return text === '' ? String(number) : type === lower ? text : text.toUpperCase()
}

/** Returns terms with their definitions, in order; consecutive definitions form one group. */
export function definitionGroups(list: ElementNode): { term?: ElementNode; definitions: ElementNode[] }[] {
  const groups: { term?: ElementNode; definitions: ElementNode[] }[] = []
  const add = (parent: ElementNode): void => {
    for (const child of childElements(parent)) {
      if (isSkipped(child)) continue
      if (child.tag === 'dt') groups.push({ term: child, definitions: [] })
      else if (child.tag !== 'dd' && childElements(child).some(({ tag }) => tag === 'dt' || tag === 'dd')) add(child)
      else if (groups.length > 0) groups.at(-1)!.definitions.push(child)
      else groups.push({ definitions: [child] })
    }
  }
  add(list)
  return groups
}
