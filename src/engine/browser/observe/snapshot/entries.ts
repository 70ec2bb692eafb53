/** Entries of a snapshot: the content of one line, and the entries below it. */
import { type AriaNode, type Children, hiddenValue, isField, labelOf, type Mark, type Marks, textsOf } from './aria.ts'
import { squeeze } from '../../../../core/text/pieces.ts'

export type Kind = 'control' | 'link' | 'heading' | 'image' | 'notice' | 'structure' | 'text'

export interface Entry {
  readonly kind: Kind
  readonly role: string
  /** Accessible name, or the text used in its place. */
  readonly name: string
  /** `checked`, `level=2`, in Playwright's spelling. */
  readonly states: readonly string[]
  /** Playwright's reference, if the line shows one. */
  readonly ref?: string
  /** Value of a field, or text. */
  readonly tail?: string
  /** Number of the page's texts in the tail; 1 by default. */
  readonly pieces?: number
  /** Number of options of a native list that the line omits. */
  readonly hiddenOptions?: number
  readonly shownOptions?: number
  /** Set for text between other elements of its node, whose position may differ from the node's. */
  readonly isLoose?: true
  /** Node that determines the position of the entry. */
  readonly node?: AriaNode | undefined
  readonly below: readonly Entry[]
}

/** Roles of messages and dialogs. */
export const noticeRoles: ReadonlySet<string> = new Set(['alert', 'alertdialog', 'dialog', 'status', 'tooltip'])

const shownOptions = 10

export const entry = (
  kind: Kind,
  node: AriaNode,
  name: string,
  below: readonly Entry[],
  more: { ref?: string; tail?: string; pieces?: number } = {},
): Entry => ({ kind, role: node.role, name, states: statesOf(node), node, below, ...more })

export const textEntry = (text: string, node: AriaNode | undefined, pieces = 1): Entry => ({
  kind: 'text',
  role: 'text',
  name: '',
  states: [],
  tail: text,
  node,
  below: [],
  ...(pieces > 1 && { pieces }),
})

/** Builds the entry of a text that people cannot see, which is never joined with others. */
export const hiddenEntry = (node: AriaNode): Entry => entry('text', node, '', [], { tail: squeeze(node.text ?? '') })

function statesOf(node: AriaNode): string[] {
  return [
    node.hidden && 'hidden',
    node.checked === true ? 'checked' : node.checked && `checked=${node.checked}`,
    node.disabled && 'disabled',
    node.expanded && 'expanded',
    node.active && node.role !== 'generic' && 'active',
    node.invalid === true ? 'invalid' : node.invalid && `invalid=${node.invalid}`,
    node.level && `level=${node.level}`,
    node.pressed === true ? 'pressed' : node.pressed && `pressed=${node.pressed}`,
    node.selected && 'selected',
  ].filter((state) => typeof state === 'string')
}

/** Builds the entry of a control without its children: name, states and value of up to `longest` characters. */
export function controlEntry(node: AriaNode, marks: Marks, name: string, longest = Infinity): Entry {
  const mark = markOf(node, marks)
  const options = optionsOf(node)
  const holdsText = isField(node) || (node.role === 'combobox' && options.length === 0)
  const chosen = options.filter(({ node: { selected } }) => selected).map(({ label }) => label)
  const value = squeeze(holdsText ? (mark?.content ?? node.text ?? '') : chosen.join(', '))
  const placeholder = squeeze(node.placeholder ?? '')
  const result = entry(node.role === 'link' ? 'link' : 'control', node, name, [], mark ? { ref: node.ref! } : {})
  return {
    ...result,
    states: [
      ...result.states,
      ...(placeholder && placeholder !== name ? [`placeholder=${JSON.stringify(placeholder)}`] : []),
      ...(options.length > 0 ? [`options=${optionList(options)}`] : []),
      ...partialState(mark),
    ],
    ...(value && { tail: mark?.secret ? hiddenValue : clip(value, longest) }),
    ...(options.length > 0 && { shownOptions: Math.min(options.length, shownOptions) }),
    ...(options.length > shownOptions && { hiddenOptions: options.length - shownOptions }),
  }
}

const partialState = (mark: Mark | undefined): string[] => (mark?.partial ? ['partial'] : [])

/** Builds the entry of an editor, with the field without a reference that names it. */
export function editorEntry(node: AriaNode, marks: Marks): Entry & { readonly field: AriaNode | undefined } {
  const field = findField(node.children ?? [])
  const name = squeeze(node.name || field?.name || '')
  const result = entry('control', { ...node, role: 'textbox' }, name, [], { ref: node.ref! })
  return { ...result, states: [...result.states, ...partialState(markOf(node, marks))], node, field }
}

function findField(children: Children): AriaNode | undefined {
  for (const child of children) {
    if (typeof child === 'string') continue
    const found = isField(child) && child.ref === undefined ? child : findField(child.children ?? [])
    if (found) return found
  }
  return undefined
}

export const markOf = (node: AriaNode, marks: Marks): Mark | undefined =>
  node.ref === undefined ? undefined : marks.get(node.ref)

type Option = { readonly node: AriaNode; readonly label: string }

/** Returns the options of a native list, which have no position on the page. */
export const optionsOf = (node: AriaNode): Option[] =>
  node.role === 'combobox' || node.role === 'listbox' ? nativeOptions(node.children ?? []) : []

const nativeOptions = (children: Children): Option[] =>
  children.flatMap((child) => {
    if (typeof child === 'string') return []
    if (child.role === 'option') return child.ref === undefined ? [{ node: child, label: squeeze(labelOf(child)) }] : []
    const [first, ...others] = nativeOptions(child.children ?? [])
    if (!first) return []
    return [{ node: first.node, label: child.name ? `${squeeze(child.name)}: ${first.label}` : first.label }, ...others]
  })

function optionList(options: readonly Option[]): string {
  const names = options.slice(0, shownOptions).map(({ label }) => label)
  const more = options.length - names.length
  return names.join(' | ') + (more > 0 ? ` | ${more} more` : '')
}

/** Returns the texts of an entry and those below it that people can see, in order. */
export function textsOfEntry({ name, tail, below, node }: Entry): string[] {
  if (node?.hidden) return []
  return [...(name ? [name] : []), ...(tail ? [tail] : []), ...below.flatMap(textsOfEntry)]
}

/** Returns the name of a heading, or its text. */
export const headingLabel = (node: AriaNode): string => squeeze(labelOf(node) || textsOf(node.children ?? []).join(' '))

export const clip = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text
