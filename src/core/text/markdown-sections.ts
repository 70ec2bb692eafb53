/** Sections of Markdown: its headings with the text below them. */

export interface MarkdownSection {
  readonly level: number
  readonly title: string
  /** Position of the heading, in characters. */
  readonly offset: number
  /** Length of the section with its subsections, in characters. */
  readonly length: number
}

type Heading = Omit<MarkdownSection, 'length'>

const fenceStart = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/
const underline = /^ {0,3}(?:(=+)|-+)[ \t]*$/
/** A line that is no paragraph, so that a line of dashes below it is a rule. */
const notParagraph = /^\s*$|^ {0,3}(?:>|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|\|)|^ {4}|^\t/

/** Returns the headings in their order, with the size of their sections. */
export function sectionsOf(markdown: string): MarkdownSection[] {
  const headings = headingsIn(markdown)
  return headings.map((heading, at) => {
    const next = headings.slice(at + 1).find(({ level }) => level <= heading.level)
    return { ...heading, length: (next?.offset ?? markdown.length) - heading.offset }
  })
}

function headingsIn(markdown: string): Heading[] {
  const headings: Heading[] = []
  let fence: string | undefined
  let offset = 0
  let before = { text: '', offset: 0 }
  for (const line of markdown.split(/(?<=\n)/)) {
    const text = line.replace(/\r?\n$/, '')
    const [, mark] = fenceStart.exec(text) ?? []
    const [, signs, title = ''] = atx.exec(text) ?? []
    const [below, equals] = underline.exec(text) ?? []
    let isHeading = false
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && text.trim() === mark) fence = undefined
    } else if (mark !== undefined) fence = mark
    else if (signs !== undefined) {
      headings.push({ level: signs.length, title: plainTitle(title), offset })
      isHeading = true
    } else if (below !== undefined && !notParagraph.test(before.text)) {
      headings.push({ level: equals === undefined ? 2 : 1, title: plainTitle(before.text), offset: before.offset })
      isHeading = true
    }
    // Only a paragraph can be underlined.
    before = isHeading || fence !== undefined || mark !== undefined ? { text: '', offset } : { text, offset }
    offset += line.length
  }
  return headings
}

/** Returns a heading without the signs of links, images, emphasis and code. */
const plainTitle = (title: string): string =>
  title
    .replaceAll(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replaceAll(/(?<!\\)(?:[*`]|~~)|\b_(?=\s|$)|(?<=^|\s)_\b/g, '')
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .trim()

const comparable = (title: string): string => title.toLowerCase().replaceAll(/\s+/g, ' ').trim()

/** Returns the sections with a name: those of exactly this name or, without any, those that contain it. */
export function sectionsNamed(sections: readonly MarkdownSection[], name: string): MarkdownSection[] {
  const wanted = comparable(name.replace(/^#+\s+/, ''))
  const same = sections.filter(({ title }) => comparable(title) === wanted)
  const found = same.length > 0 ? same : sections.filter(({ title }) => comparable(title).includes(wanted))
  // A section within another one is part of it.
  return found.filter(
    (one) => !found.some((outer) => outer.offset < one.offset && one.offset < outer.offset + outer.length),
  )
}

/** Returns the text of sections, in their order. */
export const textOfSections = (markdown: string, sections: readonly MarkdownSection[]): string =>
  sections.map(({ offset, length }) => `${markdown.slice(offset, offset + length).trimEnd()}\n`).join('\n')

/** Returns the outline as lines: headings with the length of their sections. */
export function outlineText(sections: readonly MarkdownSection[]): string {
  return sections.map(({ level, title, length }) => `${'#'.repeat(level)} ${title} (${length})`).join('\n')
}
