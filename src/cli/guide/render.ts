/** Lays out the Markdown of the guide for a terminal: headings, paragraphs, lists, tables and code blocks. */
import { wrap } from '../../core/text/wrap.ts'
import { type Layout, styledWords } from './inline.ts'
import { tableLines } from './table.ts'

/** Returns a page in lines of at most `width` columns, except for code. */
export function renderMarkdown(markdown: string, layout: Layout): string {
  const lines = markdown
    .replaceAll(/^<!--.*-->\n/gm, '')
    .trimEnd()
    .split('\n')
  const shown: string[] = []
  while (lines.length > 0) shown.push(...takeBlock(lines, layout))
  return `${shown.join('\n')}\n`
}

/** Removes the first block from the lines, and returns how it is shown. */
function takeBlock(lines: string[], layout: Layout): string[] {
  if (lines[0]!.startsWith('|'))
    return tableLines(
      takeWhile(lines, (line) => line.startsWith('|')),
      layout,
    )
  const first = lines.shift()!
  if (first.trim() === '') return ['']
  if (first.startsWith('#')) return [layout.style.bold(first.replace(/^#+ /, ''))]
  if (!first.startsWith('```')) return paragraph([first, ...takeWhile(lines, continues)], layout)
  const code = takeWhile(lines, (line) => !line.startsWith('```'))
  lines.shift()
  return code.map((line) => (line === '' ? '' : `    ${line}`))
}

function takeWhile(lines: string[], test: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !test(line))
  return lines.splice(0, end < 0 ? lines.length : end)
}

/** Checks if a line belongs to the paragraph or the list item above it. */
const continues = (line: string): boolean => line.trim() !== '' && !/^(?:\s*(?:[-*]|\d+\.) |```|#|\|)/.test(line)

/** Lays out a paragraph, or a list item with all of its lines below its first word. */
function paragraph(lines: readonly string[], layout: Layout): string[] {
  const marker = /^\s*(?:(?:[-*]|\d+\.) )?/.exec(lines[0]!)![0]
  const text = lines.join(' ').slice(marker.length)
  const margin = ' '.repeat(marker.length)
  return wrap(styledWords(text, layout), layout.width - marker.length).map(
    ({ shown }, at) => (at === 0 ? marker : margin) + shown,
  )
}
