/** From an accessibility tree to the lines of a snapshot. */
import { type AriaNode, isControl, isField, labelOf, type Marks, textsOf } from './aria.ts'
import type { Line } from './lines.ts'

/** One entry of the snapshot with what stands below it. */
interface Entry {
  readonly kind: 'control' | 'heading' | 'notice' | 'structure' | 'text'
  readonly head: string
  readonly label: string
  readonly ref?: string
  readonly tail?: string
  readonly node?: AriaNode
  readonly below: readonly Entry[]
}

/** What a part of the tree comes to: entries, and text that nothing has shown yet. */
interface Part {
  readonly entries: readonly Entry[]
  readonly loose: readonly string[]
}

const labelChars = 100
const contextChars = 80
const shownOptions = 10
/** A container with more controls is no context of any single one of them. */
const contextControls = 10

const landmarks: ReadonlySet<string> = new Set([
  'banner', 'complementary', 'contentinfo', 'form', 'main', 'navigation', 'region', 'search', 'dialog', 'alertdialog',
  'menu', 'menubar', 'tablist', 'tabpanel', 'toolbar', 'tree', 'radiogroup', 'iframe', 'table', 'grid', 'list',
]) // prettier-ignore
/** Shown only when they have a name: without one they say nothing. */
const onlyNamed: ReadonlySet<string> = new Set([
  'form',
  'region',
  'list',
  'table',
  'grid',
  'menu',
  'toolbar',
  'tabpanel',
])
const notices: ReadonlySet<string> = new Set(['alert', 'alertdialog', 'dialog', 'status', 'tooltip'])
const items: ReadonlySet<string> = new Set(['row', 'listitem', 'article'])

/** Controls, headings and landmarks, with as much text around them as tells one from the other. */
export function outline(tree: readonly (AriaNode | string)[], marks: Marks): Line[] {
  return flatten(partOf(tree, marks).entries, marks)
}

/** The whole tree. */
export function wholeTree(tree: readonly (AriaNode | string)[], marks: Marks): Line[] {
  return flatten(
    tree.flatMap((node) => whole(node, marks)),
    marks,
  )
}

function partOf(children: readonly (AriaNode | string)[], marks: Marks): Part {
  const parts = children.map((child) =>
    typeof child === 'string' ? { entries: [], loose: [child] } : nodePart(child, marks),
  )
  return { entries: parts.flatMap(({ entries }) => entries), loose: parts.flatMap(({ loose }) => loose) }
}

function nodePart(node: AriaNode, marks: Marks): Part {
  if (isControl(node, marks)) return { entries: [control(node, marks)], loose: [] }
  const { role } = node
  if (role === 'heading') return { entries: [heading(node, marks)], loose: [] }
  const inner = partOf(node.children ?? [], marks)
  const loose = node.text === undefined ? inner.loose : [node.text]
  if (notices.has(role)) return { entries: [notice(node, inner, loose)], loose: [] }
  if (landmarks.has(role) && (node.name || !onlyNamed.has(role))) {
    if (inner.entries.length === 0 && role !== 'iframe') return { entries: [], loose }
    const shownRef = role === 'iframe' && node.ref !== undefined ? { ref: node.ref } : {}
    return { entries: [entry('structure', node, node.name ?? '', inner.entries, shownRef)], loose: [] }
  }
  if (role === 'img') return { entries: [], loose: node.name ? [node.name] : [] }
  return context(node, { entries: inner.entries, loose })
}

/** A container whose text tells its controls apart gets a line with that text. */
function context(node: AriaNode, { entries, loose }: Part): Part {
  const count = controlsIn(entries)
  // What an item says without a control of its own is about none.
  if (count === 0) return { entries, loose: items.has(node.role) ? [] : loose }
  if (count > contextControls) return { entries, loose: [] }
  const labels = labelsIn(entries)
  const text = loose.map(squeeze).filter((piece) => piece !== '' && !labels.some((label) => label.includes(piece)))
  if (text.length === 0) return { entries, loose: [] }
  const label = clip(text.join(' '), contextChars)
  if (items.has(node.role)) return { entries: [entry('structure', node, label, entries)], loose: [] }
  return { entries: [{ kind: 'text', head: 'text', label, tail: label, below: [] }, ...entries], loose: [] }
}

function control(node: AriaNode, marks: Marks): Entry {
  const inner = partOf(node.children ?? [], marks).entries.flatMap(controlsOnly)
  const options = optionsOf(node)
  const field = isField(node)
  const chosen = options.filter(({ selected }) => selected).map(labelOf)
  const text =
    field || (node.role === 'combobox' && options.length === 0)
      ? node.text
      : options.length > 0
        ? chosen.join(', ')
        : undefined
  const secret = marks.get(node.ref!)!.secret
  return {
    ...entry('control', node, squeeze(labelOf(node)), options.length > 0 ? [] : inner, { ref: node.ref! }),
    head: headOf(node, squeeze(labelOf(node))) + (options.length > 0 ? ` [options=${optionList(options)}]` : ''),
    ...(text && { tail: secret ? '•'.repeat(8) : clip(squeeze(text), labelChars) }),
  }
}

/** The options of a native list, which have no place on the page of their own. */
const optionsOf = (node: AriaNode): AriaNode[] =>
  node.role === 'combobox' || node.role === 'listbox' ? nativeOptions(node.children ?? []) : []

const nativeOptions = (children: readonly (AriaNode | string)[]): AriaNode[] =>
  children.flatMap((child) => {
    if (typeof child === 'string') return []
    if (child.role === 'option') return child.ref === undefined ? [child] : []
    return nativeOptions(child.children ?? [])
  })

function optionList(options: readonly AriaNode[]): string {
  const names = options.slice(0, shownOptions).map((option) => clip(squeeze(labelOf(option)), 30))
  const more = options.length - names.length
  return names.join(' | ') + (more > 0 ? ` | ${more} more` : '')
}

function heading(node: AriaNode, marks: Marks): Entry {
  const inner = partOf(node.children ?? [], marks).entries
  const label = squeeze(labelOf(node) || textsOf(node.children ?? []).join(' '))
  // A link that is the whole heading says its text once.
  const said = inner.length === 1 && inner[0]!.label === label
  return { ...entry('heading', node, label, inner), head: headOf(node, said ? '' : label) }
}

function notice(node: AriaNode, { entries }: Part, loose: readonly string[]): Entry {
  const labels = labelsIn(entries)
  const text = loose.map(squeeze).filter((piece) => piece !== '' && !labels.some((label) => label.includes(piece)))
  const shown = clip(text.join(' '), 300)
  const made = entry('notice', node, node.name ?? '', entries)
  if (shown === '') return made
  if (entries.length === 0) return { ...made, tail: shown }
  return { ...made, below: [{ kind: 'text', head: 'text', label: shown, tail: shown, below: [] }, ...entries] }
}

function whole(node: AriaNode | string, marks: Marks): Entry[] {
  if (typeof node === 'string') {
    const text = squeeze(node)
    return text ? [{ kind: 'text', head: 'text', label: text, tail: text, below: [] }] : []
  }
  if (isControl(node, marks)) {
    const made = control(node, marks)
    const rest =
      optionsOf(node).length > 0 || isField(node) ? [] : (node.children ?? []).flatMap((child) => whole(child, marks))
    return [{ ...made, below: rest.filter(({ label }) => !made.label.includes(label)) }]
  }
  const below = (node.children ?? []).flatMap((child) => whole(child, marks))
  const text = node.text === undefined ? {} : { tail: squeeze(node.text) }
  if (node.role === 'generic' && !node.name) {
    return text.tail ? [{ kind: 'text', head: 'text', label: text.tail, tail: text.tail, below: [] }] : below
  }
  const kind = node.role === 'heading' ? 'heading' : notices.has(node.role) ? 'notice' : 'structure'
  return [
    entry(kind, node, squeeze(node.name ?? ''), below, { ...(node.ref !== undefined && { ref: node.ref }), ...text }),
  ]
}

const entry = (
  kind: Entry['kind'],
  node: AriaNode,
  label: string,
  below: readonly Entry[],
  more: { ref?: string; tail?: string } = {},
): Entry => ({ kind, node, label, below, head: headOf(node, label), ...more })

/** `button "Buy" [disabled]`, in Playwright's spelling. */
function headOf(node: AriaNode, label: string): string {
  const states = [
    node.checked === true ? 'checked' : node.checked && `checked=${node.checked}`,
    node.disabled && 'disabled',
    node.expanded && 'expanded',
    node.active && node.role !== 'generic' && 'active',
    node.invalid === true ? 'invalid' : node.invalid && `invalid=${node.invalid}`,
    node.level && `level=${node.level}`,
    node.pressed === true ? 'pressed' : node.pressed && `pressed=${node.pressed}`,
    node.selected && 'selected',
  ].filter((state) => typeof state === 'string')
  const name = label === '' ? [] : [JSON.stringify(clip(label, labelChars))]
  return [node.role, ...name, ...states.map((state) => `[${state}]`)].join(' ')
}

const controlsIn = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { kind, below }) => sum + (kind === 'control' ? 1 : 0) + controlsIn(below), 0)

const labelsIn = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ label, below }) => [label, ...labelsIn(below)])

const controlsOnly = (made: Entry): Entry[] => (made.kind === 'control' ? [made] : made.below.flatMap(controlsOnly))

function flatten(entries: readonly Entry[], marks: Marks): Line[] {
  const lines: Line[] = []
  // Text has no place of its own: it is where the element before it is.
  let away = 0
  let modal = false
  const visit = (made: Entry, depth: number) => {
    const mark = marks.get(made.ref ?? made.node?.ref ?? '')
    if (mark) ({ away, modal } = mark)
    const { head, ref, tail } = made
    lines.push({ depth, head, rank: rankOf(made.kind, away, modal), ...(ref && { ref }), ...(tail && { tail }) })
    for (const inner of made.below) visit(inner, depth + 1)
  }
  for (const made of entries) visit(made, 0)
  return lines
}

/** Open dialogs and what can be used in view, then text in view, then the rest by its distance. */
function rankOf(kind: Entry['kind'], away: number, modal: boolean): number {
  const important = kind === 'control' || kind === 'heading' || kind === 'notice'
  const tier = modal ? 0 : away === 0 ? (important ? 1 : 2) : important ? 3 : 4
  return tier * 1e9 + away
}

const squeeze = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
const clip = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text
