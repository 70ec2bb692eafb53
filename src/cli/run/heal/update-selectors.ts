/** Replaces selectors in script files, and nothing else in them. */
import { isScalar, parseDocument, stringify } from 'yaml'
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
  readonly selector: string
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
}

/** Rewrites the files; returns what was replaced in each. @throws BaxError when a file cannot be written. */
export function updateSelectors(healed: readonly HealedSelector[]): Map<string, Update> {
  const updates = new Map<string, Update>()
  for (const file of new Set(healed.map((one) => one.file))) {
    const ofFile = healed.filter((one) => one.file === file)
    const text = readRegularFile(file, limits.scriptBytes).toString()
    const edits = editsOf(text, ofFile)
    let updated = text
    // From the end, so that positions stay valid.
    for (const { start, end, value } of edits.toSorted((a, b) => b.start - a.start))
      updated = updated.slice(0, start) + value + updated.slice(end)
    if (edits.length > 0) writeOutput(file, updated)
    updates.set(file, { count: edits.length, diff: edits.map((edit) => changedLine(text, edit)) })
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
function editsOf(text: string, healed: readonly HealedSelector[]): Edit[] {
  const document = parseDocument(text, { merge: true })
  const edits = new Map<number, Edit>()
  for (const { at, selector } of healed) {
    const node = document.getIn(at, true)
    if (!isScalar(node) || !node.range || typeof node.value !== 'string' || /(?<!\$)\$\{/.test(node.value)) continue
    const [start, end] = node.range
    const literal = selector.replaceAll('${', '$$${')
    // Quoted, a selector is valid in block and in flow style, and double quotes also in JSON.
    const quote = node.type === 'QUOTE_DOUBLE' ? 'QUOTE_DOUBLE' : 'QUOTE_SINGLE'
    const value = stringify(literal, { defaultStringType: quote, lineWidth: 0 }).trimEnd()
    edits.set(start, { start, end, value: text.slice(start, end).endsWith('\n') ? `${value}\n` : value })
  }
  return [...edits.values()].toSorted((a, b) => a.start - b.start)
}
