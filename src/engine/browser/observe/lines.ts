/** A snapshot as lines with their weight: rendered to YAML, and cut by relevance when it is too long. */

/** One line before it has its number and indentation. */
export interface Line {
  readonly depth: number
  /** `button "Buy" [disabled]` */
  readonly head: string
  /** Playwright's reference of the element, when the line shows one. */
  readonly ref?: string
  /** What stands behind the colon. */
  readonly tail?: string
  /** Smaller is more relevant. */
  readonly rank: number
}

/** Lines as YAML, with the references as they are known outside. */
export function renderLines(lines: readonly Line[], numbers: ReadonlyMap<string, string>): string[] {
  return lines.map((line, at) => renderLine(line, numbers, (lines[at + 1]?.depth ?? 0) > line.depth))
}

function renderLine({ depth, head, ref, tail }: Line, numbers: ReadonlyMap<string, string>, parent: boolean): string {
  const number = ref === undefined ? undefined : numbers.get(ref)
  const key = yamlKey(number === undefined ? head : `${head} [ref=${number}]`)
  const value = tail === undefined ? (parent ? ':' : '') : `: ${yamlValue(tail)}`
  return `${'  '.repeat(depth)}- ${key}${value}`
}

export interface Cut {
  readonly text: string
  readonly truncated: boolean
}

/** Room for the line that says what was left out. */
const noticeChars = 120

/** The most relevant lines that fit, in their order, each below the ones it belongs to. */
export function cutLines(lines: readonly Line[], numbers: ReadonlyMap<string, string>, maxChars: number): Cut {
  const whole = renderLines(lines, numbers).join('\n')
  if (whole.length <= maxChars) return { text: whole, truncated: false }
  const sizes = lines.map((line) => renderLine(line, numbers, true).length + 1)
  const parents = parentsOf(lines)
  const kept = new Set<number>()
  let room = maxChars - noticeChars
  const byRank = lines.map((_, at) => at).toSorted((a, b) => lines[a]!.rank - lines[b]!.rank || a - b)
  for (const at of byRank) {
    const needed: number[] = []
    for (let line = at; line >= 0 && !kept.has(line); line = parents[line]!) needed.push(line)
    const size = needed.reduce((sum, line) => sum + sizes[line]!, 0)
    if (size > room) continue
    room -= size
    for (const line of needed) kept.add(line)
  }
  const shown = lines.filter((_, at) => kept.has(at))
  const left = lines.length - shown.length
  const notice = `# ${left} of ${lines.length} lines left out, least relevant first; selector or max_chars shows more`
  return { text: [...renderLines(shown, numbers), notice].join('\n'), truncated: true }
}

/** Index of the line that each one is indented below; -1 at the top. */
function parentsOf(lines: readonly Line[]): number[] {
  const open: number[] = []
  return lines.map(({ depth }, at) => {
    open.length = depth
    open[depth] = at
    return depth === 0 ? -1 : (open[depth - 1] ?? -1)
  })
}

/** Plain text cut between two lines; says how much is left. */
export function cutText(text: string, maxChars: number): Cut {
  if (text.length <= maxChars) return { text, truncated: false }
  const end = text.lastIndexOf('\n', Math.max(0, maxChars - noticeChars))
  const shown = end > 0 ? text.slice(0, end) : ''
  const left = text.length - shown.length
  const notice = `# ${left} of ${text.length} characters left out; selector or max_chars shows more`
  return { text: shown ? `${shown}\n${notice}` : notice, truncated: true }
}

/** A key that begins with a role needs quotes only where YAML would end it early. */
const yamlKey = (key: string): string => (/: | #|:$/.test(key) ? `'${key.replaceAll("'", "''")}'` : key)

const plainValue = /^(?![-?:,[\]{}#&*!|>'"%@`\s])(?!.*(?:: | #|:$|\s$)).+$/
const otherType = /^(?:true|false|null|yes|no|on|off|~|[-+]?[\d._]+(?:e[-+]?\d+)?|0x[\da-f]+|\d{4}-\d\d-\d\d.*)$/i

function yamlValue(value: string): string {
  return plainValue.test(value) && !otherType.test(value) ? value : JSON.stringify(value)
}
