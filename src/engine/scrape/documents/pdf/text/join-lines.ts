/** Joins the text of lines: without the hyphens of broken words, with links and raised characters. */
import type { TreeNode } from '../../../../extract/tree.ts'
import { element } from '../../document.ts'
import { inlineNodes } from '../../office/inline.ts'
import type { Line } from '../blocks.ts'
import type { Run } from '../page/page-content.ts'

const wide = /[\u3000-\u303F\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF\uFF00-\uFFEF]/

/** Whether short lines are entries of their own, as in addresses, rather than one text. */
export const areSeparate = (lines: readonly Line[]): boolean =>
  lines.length > 1 &&
  lines.length < 12 &&
  lines.every(({ text }, at) => text.length <= 40 && !/[,;-]$/.test(text) && (at === 0 || /^[\p{Lu}\d+(]/u.test(text)))

/**
 * Returns the nodes of lines that are one paragraph. `compounds`: words with hyphens of the document, in lower case.
 * `skip`: characters to leave out at the start. `breaks`: whether to keep the lines.
 */
export function inlineOf(
  lines: readonly Line[],
  compounds: ReadonlySet<string>,
  { skip = 0, breaks = false } = {},
): TreeNode[] {
  if (breaks)
    return lines.flatMap((line, at) => [...(at > 0 ? [element('br', {})] : []), ...inlineOf([line], compounds)])
  const runs: Run[] = []
  for (const line of lines) {
    const last = runs.at(-1)
    const [first, ...more] = line.runs
    if (last && first) joinTo(runs, last, first, compounds)
    else if (first) runs.push({ ...first })
    runs.push(...more.map((run) => ({ ...run })))
  }
  withoutStart(runs, skip)
  return inlineNodes(
    runs.map(({ text, raised, href }) => ({ text: text.replaceAll('\u00AD', ''), style: { raised, href } })),
  )
}

function joinTo(runs: Run[], last: Run, next: Run, compounds: ReadonlySet<string>): void {
  const text = last.text.trimEnd()
  const hyphen = /(\p{L}[\p{L}-]*)([-\u2010\u00AD])$/u.exec(text)
  if (hyphen && /^\p{L}|^\d/u.test(next.text)) {
    const word = /^[\p{L}-]*/u.exec(next.text)![0]
    const isKept =
      hyphen[2] !== '\u00AD' && (!/^\p{Ll}/u.test(word) || compounds.has(`${hyphen[1]}-${word}`.toLowerCase()))
    last.text = isKept ? text : text.slice(0, -1)
    push(runs, last, next, '')
    return
  }
  const isJoined = (wide.test(text.at(-1) ?? '') && wide.test(next.text[0] ?? '')) || /[—/]$/.test(text)
  last.text = text
  push(runs, last, next, isJoined ? '' : ' ')
}

function push(runs: Run[], last: Run, next: Run, space: string): void {
  if (last.href === next.href && last.raised === next.raised) last.text += space + next.text
  else runs.push(...(space ? [{ text: space }] : []), { ...next })
}

function withoutStart(runs: Run[], chars: number): void {
  let left = chars
  while (left > 0 && runs[0]) {
    const { length } = runs[0].text
    if (length > left) runs[0].text = runs[0].text.slice(left)
    else runs.shift()
    left -= length
  }
}

/** Returns the words with hyphens that are not at the end of a line. */
export function compoundsOf(texts: Iterable<string>): Set<string> {
  const found = new Set<string>()
  for (const text of texts) for (const [word] of text.matchAll(/\p{L}+(?:-\p{L}+)+/gu)) found.add(word.toLowerCase())
  return found
}
