/** Finds the lines that a new page shares with the last one, such as navigation, which agents have read before. */
import { limits } from '../../../core/limits/limits.ts'
import { type Unit, type View, viewOf } from './compare.ts'
import type { Entry } from './snapshot/entries.ts'
import { headOf } from './snapshot/lines.ts'

/** A page without the lines that it shares with the last one. */
export interface Unshared {
  readonly entries: readonly Entry[]
  /** Shared controls, in document order. */
  readonly controls: readonly Entry[]
  /** Number of shared texts, headings and images. */
  readonly texts: number
}

/**
 * Removes lines that the last page had in the same place, if both pages have them once. The main content stays, since its
 * lines belong together: a button means something else below another heading. Messages stay, too.
 */
export function withoutShared(entries: readonly Entry[], before: View): Unshared {
  const { units } = viewOf(entries, new Map())
  const inView = flat(entries)
  const [old, now] = [countsOf(before.units), countsOf(units)]
  const isShared = (unit: Unit) => old.get(keyOf(unit)) === 1 && now.get(keyOf(unit)) === 1
  const shared = new Set(inView.filter((entry, at) => entry.below.length === 0 && isShared(units[at]!)))
  const controls: Entry[] = []
  let texts = 0
  const prune = (list: readonly Entry[]): Entry[] =>
    list.flatMap((entry) => {
      if (entry.role === 'main' || entry.kind === 'notice') return [entry]
      if (shared.has(entry)) {
        if (entry.ref === undefined) texts += entry.pieces ?? 1
        else controls.push(entry)
        return []
      }
      const below = prune(entry.below)
      const isEmptied = entry.below.length > 0 && below.length === 0 && entry.ref === undefined
      return isEmptied && (entry.kind === 'structure' || entry.name === '') ? [] : [{ ...entry, below }]
    })
  return { entries: prune(entries), controls, texts }
}

/**
 * Formats what was removed on one line, and counts controls that do not fit, links first. The role of a control is
 * missing if it is that of the control before it.
 */
export function sharedLine({ controls, texts }: Unshared, numbers: ReadonlyMap<string, string>) {
  const textOf = (entry: Entry) =>
    `${headOf(entry)} [ref=${numbers.get(entry.ref!)}]${entry.tail ? `: ${JSON.stringify(entry.tail)}` : ''}`
  let room = limits.observe.sharedChars
  const byNeed = controls.toSorted((a, b) => Number(a.kind === 'link') - Number(b.kind === 'link'))
  const fitting = new Set(byNeed.filter((entry) => (room -= textOf(entry).length) >= 0))
  const shown = controls.filter((entry) => fitting.has(entry))
  const parts = shown.map((entry, at) => {
    const isRepeated = shown[at - 1]?.role === entry.role && entry.name !== ''
    return isRepeated ? textOf(entry).slice(entry.role.length + 1) : textOf(entry)
  })
  const rest = controls.length - shown.length
  const facts = [
    ...(texts > 0 ? [`${texts} ${texts === 1 ? 'text' : 'texts'}`] : []),
    ...parts,
    ...(rest > 0 ? [`${rest} more`] : []),
  ]
  return { line: facts.length > 0 ? `# as on the last page: ${facts.join(', ')}` : '', rest }
}

/** Lists entries in the order of the units of their view. */
const flat = (entries: readonly Entry[]): Entry[] => entries.flatMap((entry) => [entry, ...flat(entry.below)])

const keyOf = ({ role, name, text, value = '', states, path }: Unit): string =>
  JSON.stringify([role, name, text, value, [...states], path])

function countsOf(units: readonly Unit[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const unit of units) counts.set(keyOf(unit), (counts.get(keyOf(unit)) ?? 0) + 1)
  return counts
}
