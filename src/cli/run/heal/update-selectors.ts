/** Replaces selectors in script files, and nothing else in them. */
import { isScalar, parseDocument, type Scalar, stringify } from 'yaml'
import { limits } from '../../../core/limits/limits.ts'
import { readRegularFile } from '../../../core/state/outside-files.ts'
import { writeOutput } from '../../output/write-output.ts'
import type { Path } from '../script/document.ts'

/** A selector that no longer matches, and the one of the element that was used instead. */
export interface HealedSelector {
  /** Absolute path of the script. */
  readonly file: string
  /** Path of the selector in the document. */
  readonly at: Path
  /** The selector that the script had, and the one of the element that was used. */
  readonly from: string
  readonly to: string
}

/** A line of a file before and after an update. */
interface ChangedLine {
  readonly line: number
  readonly before: string
  readonly after: string
}

interface Update {
  /** Number of selectors that were replaced. */
  readonly count: number
  readonly diff: readonly ChangedLine[]
  readonly skipped: readonly Skipped[]
}

/** A selector that was left as it is. */
interface Skipped {
  readonly from: string
  readonly reason: string
}

/** Rewrites the files; returns what was replaced in each. @throws BaxError when a file cannot be written. */
export function updateSelectors(healed: readonly HealedSelector[]): Map<string, Update> {
  const updates = new Map<string, Update>()
  for (const file of new Set(healed.map((one) => one.file))) {
    const ofFile = healed.filter((one) => one.file === file)
    const text = readRegularFile(file, limits.scriptBytes).toString()
    const { edits, skipped } = editsOf(text, ofFile)
    let updated = text
    // From the end, so that positions stay valid.
    for (const { start, end, value } of edits.toSorted((a, b) => b.start - a.start))
      updated = updated.slice(0, start) + value + updated.slice(end)
    if (edits.length > 0) writeOutput(file, updated)
    updates.set(file, { count: edits.length, diff: edits.map((edit) => changedLine(text, edit)), skipped })
  }
  return updates
}

/** Returns the line of an edit; a selector on several lines is shown by its first one. */
function changedLine(text: string, { end, start, value }: Edit): ChangedLine {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lineEnd = (at: number) => (text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at))
  const rest = text.slice(start, end).endsWith('\n') ? '' : text.slice(end, lineEnd(end))
  return {
    line: text.slice(0, start).split('\n').length,
    before: text.slice(from, lineEnd(start)).trimEnd(),
    after: `${text.slice(from, start)}${value}${rest}`.trimEnd(),
  }
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly value: string
}

/** Returns the edits of the selectors that are written out, as opposed to those with references and aliases. */
function editsOf(text: string, healed: readonly HealedSelector[]): { edits: Edit[]; skipped: Skipped[] } {
  const document = parseDocument(text, { merge: true })
  const edits = new Map<number, Edit>()
  const skipped: Skipped[] = []
  // A step is used several times in loops, and by several scripts.
  for (const [key, { from }] of new Map(healed.map((one) => [JSON.stringify(one.at), one]))) {
    const [to, ...others] = new Set(healed.filter(({ at }) => JSON.stringify(at) === key).map((one) => one.to))
    const node = document.getIn(JSON.parse(key) as Path, true)
    // The file may have been changed during the run.
    const isFound = isScalar(node) && node.range && node.value === literalOf(from)
    if (!isFound) skipped.push({ from, reason: 'the script does not have it written out there' })
    else if (others.length > 0) skipped.push({ from, reason: 'it stood for different elements' })
    else edits.set(node.range![0], editOf(text, node, to!))
  }
  return { edits: [...edits.values()].toSorted((a, b) => a.start - b.start), skipped }
}

/** Returns how a selector is written in a script. */
const literalOf = (selector: string): string => selector.replaceAll('${', '$$${')

function editOf(text: string, { range, type }: Scalar, selector: string): Edit {
  const [start, end] = range!
  // Quoted, a selector is valid in block and in flow style, and double quotes also in JSON.
  const quote = type === 'QUOTE_DOUBLE' ? 'QUOTE_DOUBLE' : 'QUOTE_SINGLE'
  const value = stringify(literalOf(selector), { defaultStringType: quote, lineWidth: 0 }).trimEnd()
  return { start, end, value: text.slice(start, end).endsWith('\n') ? `${value}\n` : value }
}
