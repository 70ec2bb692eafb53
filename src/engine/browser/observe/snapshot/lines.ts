/** Renders a snapshot to lines of YAML, and cuts it by relevance when it is too long. */
import { limits } from '../../../../core/limits/limits.ts'
import type { Omitted } from '../../../../core/shapes/observe.ts'
import type { Marks } from './aria.ts'
import type { Entry } from './entries.ts'

/** One line without reference and indentation. */
export interface Line extends Pick<Entry, 'ref' | 'tail' | 'pieces' | 'hiddenOptions' | 'shownOptions'> {
  readonly depth: number
  /** `button "Buy" [disabled]` */
  readonly head: string
  /** Relevance; smaller is more relevant. */
  readonly rank: number
  /** Kind that the line counts as when it is omitted; missing for lines that only group others. */
  readonly counts?: keyof Omitted
  /** Inaccessible: behind an open modal dialog, or inert. */
  readonly blocked?: boolean
  /** A link or button beyond the edge of the document. */
  readonly outside?: boolean
}

/** Converts entries to lines; inaccessible ones come last. */
export function linesOf(entries: readonly Entry[], marks: Marks): Line[] {
  const hasModal = [...marks.values()].some(({ modal }) => modal)
  const lines: Line[] = []
  const last: Entry[] = []
  // Text has no position of its own: use its container's, or the end of the element before it.
  const visit = (item: Entry, depth: number, before: number, blockedAbove: boolean): number => {
    const mark = marks.get(item.ref ?? item.node?.ref ?? '')
    const isText = item.kind === 'text'
    const blocked = blockedAbove || (mark !== undefined && (mark.blocked || (isText && hasModal && !mark.modal)))
    if (blocked && !blockedAbove) {
      last.push(item)
      return before
    }
    const away = item.isLoose ? Math.max(mark?.away ?? 0, before) : (mark?.away ?? before)
    const { ref, tail, pieces, hiddenOptions, shownOptions } = item
    const shown = { ref, tail: tail || undefined, pieces, hiddenOptions, shownOptions }
    const rank = rankOf(item, away, mark?.modal ?? false, blocked)
    const counts = countsOf(item)
    const outside = (mark?.outside ?? false) && (counts === 'controls' || counts === 'links')
    lines.push({ ...shown, depth, head: headOf(item), rank, counts, blocked, outside })
    let inside = mark?.away ?? before
    for (const inner of item.below) inside = visit(inner, depth + 1, inside, blocked)
    return item.below.length > 0 ? inside : away
  }
  let before = 0
  for (const item of entries) before = visit(item, 0, before, false)
  for (const item of last) visit(item, 0, 0, true)
  const isMeaningful = ({ counts, ref }: Line) => counts !== undefined || ref !== undefined
  return lines.filter((line, at) => isMeaningful(line) || (lines[at + 1]?.depth ?? 0) > line.depth)
}

/** `button "Buy" [disabled]`, in Playwright's spelling. */
export const headOf = ({ role, name, states }: Entry): string =>
  [role, ...(name ? [JSON.stringify(name)] : []), ...states.map((state) => `[${state}]`)].join(' ')

function countsOf({ kind, name, tail }: Entry): keyof Omitted | undefined {
  if (kind === 'control') return 'controls'
  if (kind === 'link') return 'links'
  if (kind === 'heading') return 'headings'
  if (kind === 'image') return 'images'
  return name || tail ? 'texts' : undefined
}

/** Ranks open dialogs and controls in view first, then text in view, then by distance, and inaccessible and hidden ones last. */
function rankOf({ kind, node }: Entry, away: number, modal: boolean, blocked: boolean): number {
  const isImportant = kind !== 'structure' && kind !== 'text' && kind !== 'image'
  const tier = blocked || node?.hidden ? 5 : modal ? 0 : away === 0 ? (isImportant ? 1 : 2) : isImportant ? 3 : 4
  return tier * 1e9 + away
}

const blockedNotice = '# out of reach, behind an open dialog or inert:'

/** Renders lines as YAML with public references. */
export function renderLines(lines: readonly Line[], numbers: ReadonlyMap<string, string>): string[] {
  return lines.flatMap((line, at) => {
    const text = renderLine(line, numbers, (lines[at + 1]?.depth ?? 0) > line.depth)
    return line.blocked && !lines[at - 1]?.blocked ? [blockedNotice, text] : [text]
  })
}

function renderLine({ depth, head, ref, tail }: Line, numbers: ReadonlyMap<string, string>, parent: boolean): string {
  const number = ref === undefined ? undefined : numbers.get(ref)
  const key = yamlKey(number === undefined ? head : `${head} [ref=${number}]`)
  const value = tail === undefined ? (parent ? ':' : '') : `: ${yamlValue(tail)}`
  return `${'  '.repeat(depth)}- ${key}${value}`
}

/** Leaves out most controls beyond the edge of the document: a hidden palette has hundreds. */
export function withoutOutside(lines: readonly Line[]): { readonly lines: readonly Line[]; readonly omitted: Omitted } {
  let count = 0
  const kept = lines.filter(({ outside, depth }, at) => {
    const hasContent = (lines[at + 1]?.depth ?? 0) > depth
    return !outside || hasContent || ++count <= limits.observe.outside
  })
  const outside = lines.length - kept.length
  return { lines: kept, omitted: outside > 0 ? { outside } : {} }
}

/** The lines that fit, and the number of others by kind. */
export type Cut = ReturnType<typeof cutLines>

/** Characters reserved for the notices. */
const noticeChars = 200

/** Renders the most relevant lines that fit, in order and with their parents; counts the others. */
export function cutLines(
  lines: readonly Line[],
  numbers: ReadonlyMap<string, string>,
  maxChars: number,
  before: Omitted = {},
): { readonly text: string; readonly omitted: Omitted } {
  const { outside } = before
  const notices = outside === undefined ? [] : [`# ${outside} controls outside of the page omitted; use selector`]
  const whole = [...renderLines(lines, numbers), ...notices].join('\n')
  if (whole.length <= maxChars) return { text: whole, omitted: before }
  const omitted: Omitted = {}
  const leaveOut = ({ counts: kind, pieces = 1, shownOptions = 0 }: Partial<Line>) => {
    if (shownOptions > 0) omitted.options = (omitted.options ?? 0) + shownOptions
    if (kind) omitted[kind] = (omitted[kind] ?? 0) + pieces
  }
  // One long text must not displace everything else.
  const longest = Math.max(200, Math.floor(maxChars / 10))
  const short = lines.map((line) =>
    line.tail && line.tail.length > longest ? { ...line, tail: shortText(line.tail, longest) } : line,
  )
  const kept = choose(short, numbers, maxChars - noticeChars)
  short.forEach((line, at) => {
    if (!kept.has(at)) leaveOut(line)
    else if (line !== lines[at]) leaveOut({ counts: 'texts' })
  })
  const shown = short.filter((_, at) => kept.has(at))
  const text = [...renderLines(shown, numbers), ...notices, omittedNotice(omitted)].join('\n')
  return { text, omitted: { ...before, ...omitted } }
}

/** Truncates a text, and appends the number of missing characters. */
export const shortText = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`

function choose(lines: readonly Line[], numbers: ReadonlyMap<string, string>, size: number): Set<number> {
  const sizes = lines.map((line) => renderLine(line, numbers, true).length + 1)
  const parents = parentsOf(lines)
  const kept = new Set<number>()
  let room = size
  const byRank = lines.map((_, at) => at).toSorted((a, b) => lines[a]!.rank - lines[b]!.rank || a - b)
  for (const at of byRank) {
    // A line that only groups others is included with them.
    if (kept.has(at) || (lines[at]!.counts === undefined && (lines[at + 1]?.depth ?? 0) > lines[at]!.depth)) continue
    const needed: number[] = []
    for (let line = at; line >= 0 && !kept.has(line); line = parents[line]!) needed.push(line)
    const length = needed.reduce((sum, line) => sum + sizes[line]!, 0)
    if (length > room) continue
    room -= length
    for (const line of needed) kept.add(line)
  }
  return kept
}

/** Returns the index of each line's parent; -1 at the top level. */
function parentsOf(lines: readonly Line[]): number[] {
  const open: number[] = []
  return lines.map(({ depth }, at) => {
    open.length = depth
    open[depth] = at
    return depth === 0 ? -1 : (open[depth - 1] ?? -1)
  })
}

const omittedNotice = (omitted: Omitted): string => `# ${countsText(omitted)} omitted; use max_chars or selector`

/** `212 texts, 3 images and 40 links`. */
function countsText(omitted: Omitted): string {
  const counts = Object.entries(omitted).map(([kind, count]) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`)
  return counts.length > 1 ? `${counts.slice(0, -1).join(', ')} and ${counts.at(-1)}` : (counts[0] ?? 'nothing')
}

/** Cuts plain text at a line break, and appends the number of omitted characters. */
export function cutText(text: string, maxChars: number): { readonly text: string; readonly omittedChars: number } {
  if (text.length <= maxChars) return { text, omittedChars: 0 }
  const end = text.lastIndexOf('\n', Math.max(0, maxChars - noticeChars))
  const shown = end > 0 ? text.slice(0, end) : ''
  const left = text.length - shown.length
  const notice = `# ${left} of ${text.length} characters left out; selector or max_chars shows more`
  return { text: shown ? `${shown}\n${notice}` : notice, omittedChars: left }
}

/** Quotes a key where needed; keys start with a role, so only `: `, ` #` and a final colon need quotes. */
const yamlKey = (key: string): string => (/: | #|:$/.test(key) ? `'${key.replaceAll("'", "''")}'` : key)

const plainValue = /^(?![-?:,[\]{}#&*!|>'"%@`\s])(?!.*(?:: | #|:$|\s$)).+$/
const otherType = /^(?:true|false|null|yes|no|on|off|~|[-+]?[\d._]+(?:e[-+]?\d+)?|0x[\da-f]+|\d{4}-\d\d-\d\d.*)$/i

function yamlValue(value: string): string {
  return plainValue.test(value) && !otherType.test(value) ? value : JSON.stringify(value)
}
