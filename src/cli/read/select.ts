/** Selects the part of a text that `bax read` prints. */
import { suggest } from '../../core/errors/suggest.ts'
import { excerpts } from '../../core/text/excerpts.ts'
import { withoutHeading } from '../../core/text/markdown/markdown-headings.ts'
import { type MarkdownSection, outlineText, sectionIn, sectionsOf } from '../../core/text/markdown/markdown-sections.ts'
import { textPart } from '../../core/text/text-part.ts'

export interface Selection {
  readonly outline: boolean
  readonly section?: string | undefined
  readonly find?: string | undefined
  /** First character to print, and the number of characters. */
  readonly offset: number
  readonly maxChars: number
}

/** Passages of one section that contain a text. */
interface FoundPassages {
  /** Heading of the section; absent before the first heading. */
  readonly section?: string
  readonly passages: readonly string[]
}

/** The selected part, as text and as fields of the JSON output. */
export interface Selected {
  readonly text: string
  readonly fields: {
    readonly markdown?: string
    readonly outline?: readonly MarkdownSection[]
    readonly found?: readonly FoundPassages[]
  }
  /** Note about the rest of the text, and how to read it. */
  readonly note?: string
  /** Whether nothing was found. */
  readonly isMissing?: boolean
}

/** @throws BaxError `invalid_request` for a section that the text does not have */
export function selectPart(markdown: string, { outline, section, find, offset, maxChars }: Selection): Selected {
  const whole = section === undefined ? markdown : sectionIn(markdown, section, sectionHint)
  if (outline) {
    const sections = sectionsOf(whole)
    const note = sections.length === 0 ? { note: `no headings in ${whole.length} characters` } : {}
    return { text: withEnd(outlineText(sections)), fields: { outline: sections }, ...note }
  }
  if (find !== undefined) return passagesIn(whole, find)
  const { text, next, rest } = textPart(whole, { offset, maxChars })
  const more = rest > 0 ? `${rest} more characters: continue with --offset ${next}` : undefined
  const note = offset > 0 && text === '' ? `end of the text: it has ${whole.length} characters` : more
  return { text: withEnd(text), fields: { markdown: text }, ...(note !== undefined && { note }) }
}

const withEnd = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

function sectionHint(name: string, titles: readonly string[]): string {
  const near = suggest(name, titles)
  return near === undefined ? 'list the sections with --outline' : `the nearest section is ${JSON.stringify(near)}`
}

/** Passages shown of each section. */
const most = 10

/** Returns the passages in one part of a text; empty if there are none. */
function passagesOf(part: string, find: string): (readonly string[])[] {
  const { passages = [] } = excerpts(part, find, { most }) ?? {}
  return passages.length > 0 ? [passages] : []
}

function passagesIn(markdown: string, find: string): Selected {
  const words = find.trim().toLowerCase().split(/\s+/)
  const starts = [{ offset: 0 }, ...sectionsOf(markdown)]
  const found = starts.flatMap((start, at): FoundPassages[] => {
    const part = markdown.slice(start.offset, starts[at + 1]?.offset)
    if (!('title' in start)) return passagesOf(part, find).map((passages) => ({ passages }))
    const section = start.title
    const [passages = []] = passagesOf(withoutHeading(part), find)
    const isNamed = words.every((word) => section.toLowerCase().includes(word))
    return isNamed || passages.length > 0 ? [{ section, passages }] : []
  })
  const blocks = found.map(({ section, passages }) =>
    [...(section === undefined ? [] : [`## ${section}`]), ...passages].join('\n'),
  )
  const missing = `no passage contains all words of ${JSON.stringify(find)}`
  return {
    text: withEnd(blocks.join('\n\n')),
    fields: { found },
    ...(found.length === 0 && { note: missing, isMissing: true }),
  }
}
