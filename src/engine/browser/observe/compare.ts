/** Compares two views of a page. */
import { align } from './align.ts'
import { type Entry, textsOfEntry } from './snapshot/entries.ts'
import { headOf } from './snapshot/lines.ts'

/** One line of a view, prepared for comparison. */
export interface Unit {
  /** `e12`, for elements with a lasting reference. */
  readonly ref: string | null
  readonly role: string
  readonly name: string
  readonly text: string
  readonly value?: string
  readonly isControl: boolean
  readonly states: ReadonlySet<string>
  /** The line as in a snapshot. */
  readonly head: string
  /** Enclosing containers, and the heading above it. */
  readonly where: string
  /** Enclosing containers. */
  readonly path: string
}

export interface Notice {
  readonly role: string
  readonly text: string
}

export interface View {
  readonly units: readonly Unit[]
  /** Alerts, status messages and dialogs. */
  readonly notices: readonly Notice[]
}

/** Flattens entries to a view. */
export function viewOf(entries: readonly Entry[], numbers: ReadonlyMap<string, string>): View {
  const units: Unit[] = []
  const notices: Notice[] = []
  const visit = (list: readonly Entry[], path: readonly string[]) => {
    let heading: string[] = []
    for (const item of list) {
      const containers = path.slice(-2)
      const where = [...containers, ...heading].join(' > ')
      units.push({ ...unitOf(item, numbers), where, path: containers.join(' > ') })
      if (item.kind === 'notice') notices.push({ role: item.role, text: noticeText(item) })
      if (item.kind === 'heading') heading = [JSON.stringify(textsOfEntry(item).join(' '))]
      visit(item.below, item.kind === 'heading' ? path : [...path, pathStep(item)])
    }
  }
  visit(entries, [])
  return { units, notices }
}

/** Returns the text that identifies a notice: the name of a dialog, the text of a message. */
const noticeText = (item: Entry): string =>
  isDialog(item.role) && item.name ? item.name : textsOfEntry(item).join(' ')

export const isDialog = (role: string): boolean => role === 'dialog' || role === 'alertdialog'

const pathStep = ({ role, name }: Entry): string => (name ? `${role} ${JSON.stringify(name)}` : role)

/** Attributes that are not states of the page, or that users do not notice. */
const permanent = /^(?:level|placeholder|options)=|^active$/

function unitOf(item: Entry, numbers: ReadonlyMap<string, string>): Omit<Unit, 'where' | 'path'> {
  const { role, name, tail = '', kind, states } = item
  const ref = item.ref === undefined ? null : (numbers.get(item.ref) ?? null)
  const isControl = kind === 'control' || kind === 'link'
  const isField = isControl && (fieldRoles.has(role) || states.some((state) => state.startsWith('options=')))
  return {
    ref,
    role,
    name,
    text: isField ? name : isControl ? [name, tail].filter(Boolean).join(' ') : tail || name,
    ...(isField && { value: tail }),
    isControl,
    states: new Set(states.filter((state) => !permanent.test(state))),
    head: ref === null ? headOf(item) : `${headOf(item)} [ref=${ref}]`,
  }
}

const fieldRoles: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'spinbutton', 'slider', 'combobox'])

export interface Difference {
  readonly added: Unit[]
  readonly removed: Unit[]
  readonly replaced: [Unit, Unit][]
  readonly values: [Unit, Unit][]
  readonly states: { readonly unit: Unit; readonly state: string; readonly on: boolean }[]
}

export function compare(before: View, after: View): Difference {
  const difference: Difference = { added: [], removed: [], replaced: [], values: [], states: [] }
  const [olds, news] = [before.units, after.units]
  let [a, b] = [0, 0]
  const closing: [number, number] = [olds.length, news.length]
  for (const [nextA, nextB] of [...align(olds.map(keyOf), news.map(keyOf)), closing]) {
    addGap(difference, olds.slice(a, nextA), news.slice(b, nextB))
    if (nextA < olds.length && nextB < news.length) addMatch(difference, olds[nextA]!, news[nextB]!)
    ;[a, b] = [nextA + 1, nextB + 1]
  }
  return withoutMoved(difference)
}

/** Treats controls that have moved as the same. */
function withoutMoved(difference: Difference): Difference {
  const removed = new Map(difference.removed.flatMap((unit) => (unit.ref === null ? [] : [[unit.ref, unit] as const])))
  const moved = difference.added.filter(({ ref }) => ref !== null && removed.has(ref))
  for (const unit of moved) addMatch(difference, removed.get(unit.ref!)!, unit)
  const refs = new Set(moved.map(({ ref }) => ref))
  const isUnmoved = ({ ref }: Unit) => ref === null || !refs.has(ref)
  return { ...difference, added: difference.added.filter(isUnmoved), removed: difference.removed.filter(isUnmoved) }
}

const keyOf = ({ ref, role, name, text }: Unit): string => (ref === null ? `${role} ${name} ${text}` : `[${ref}]`)

/** Adds the differences between two matches; pairs removed and added units of the same kind. */
function addGap(difference: Difference, olds: readonly Unit[], news: readonly Unit[]): void {
  const left = [...olds]
  const isPair = (old: Unit, unit: Unit) =>
    unit.ref === null ? old.ref === null && old.role === unit.role && old.path === unit.path : old.ref === unit.ref
  for (const unit of news) {
    // A moved control keeps its reference; a new one does not replace another.
    const at = left.findIndex((old) => isPair(old, unit))
    if (at === -1) difference.added.push(unit)
    else addMatch(difference, left.splice(at, 1)[0]!, unit)
  }
  difference.removed.push(...left)
}

function addMatch({ replaced, values, states }: Difference, old: Unit, unit: Unit): void {
  if (old.text !== unit.text) replaced.push([old, unit])
  if (old.value !== undefined && unit.value !== undefined && old.value !== unit.value) values.push([old, unit])
  for (const state of unit.states) if (!old.states.has(state)) states.push({ unit, state, on: true })
  for (const state of old.states) if (!unit.states.has(state)) states.push({ unit, state, on: false })
}

/** Shortens two texts to their difference with some context. */
export function aroundChange(old: string, text: string): [string, string] {
  if (Math.max(old.length, text.length) <= wholeChars) return [old, text]
  const shorter = Math.min(old.length, text.length)
  let start = 0
  while (start < shorter && old[start] === text[start]) start++
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === text.at(-1 - end)) end++
  const from = Math.max(0, old.lastIndexOf(' ', Math.max(0, start - contextChars)))
  const cut = (whole: string) => {
    const to = Math.min(whole.length, whole.length - end + contextChars)
    return `${from > 0 ? '…' : ''}${whole.slice(from, to).trim()}${to < whole.length ? '…' : ''}`
  }
  return [cut(old), cut(text)]
}

const wholeChars = 100
const contextChars = 25
