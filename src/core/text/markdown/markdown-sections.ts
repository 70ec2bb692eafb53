/** Sections of Markdown: its headings with the text below them. */
import { BaxError } from '../../errors/errors.ts'
import { type Heading, headingsIn } from './markdown-headings.ts'
import { squeeze } from '../pieces.ts'

export interface MarkdownSection extends Heading {
  /** Length of the section with its subsections, in characters. */
  readonly length: number
}

/** Returns the headings in their order, with the size of their sections. */
export function sectionsOf(markdown: string): MarkdownSection[] {
  /** Position of the next heading of each level. */
  const next: number[] = Array.from({ length: 7 }, () => markdown.length)
  return headingsIn(markdown)
    .toReversed()
    .map((heading) => {
      const { level, offset } = heading
      const length = Math.min(...next.slice(0, level + 1)) - offset
      next[level] = offset
      return { ...heading, length }
    })
    .toReversed()
}

const comparable = (title: string): string => squeeze(title.toLowerCase())

/** Returns the sections with a name: those of exactly this name or, without any, those that contain it. */
export function sectionsNamed(sections: readonly MarkdownSection[], name: string): MarkdownSection[] {
  const wanted = comparable(name.replace(/^#+\s+/, ''))
  const same = sections.filter(({ title }) => comparable(title) === wanted)
  const found = same.length > 0 ? same : sections.filter(({ title }) => comparable(title).includes(wanted))
  let end = 0
  // A section within another one is part of it.
  return found.filter(({ offset, length }) => {
    if (offset < end) return false
    end = offset + length
    return true
  })
}

/** Returns the text of sections, in their order. */
export const textOfSections = (markdown: string, sections: readonly MarkdownSection[]): string =>
  sections.map(({ offset, length }) => `${markdown.slice(offset, offset + length).trimEnd()}\n`).join('\n')

/** Returns the text of the sections with a name. @throws BaxError `invalid_request`, with a hint about the titles */
export function sectionIn(
  markdown: string,
  name: string,
  hintOf: (name: string, titles: readonly string[]) => string,
): string {
  const sections = sectionsOf(markdown)
  const found = sectionsNamed(sections, name)
  if (found.length > 0) return textOfSections(markdown, found)
  const titles = sections.map(({ title }) => title)
  throw new BaxError('invalid_request', `no section is named ${JSON.stringify(name)}`, { hint: hintOf(name, titles) })
}

/** Returns the outline as lines: headings with the length of their sections. */
export function outlineText(sections: readonly MarkdownSection[]): string {
  return sections.map(({ level, title, length }) => `${'#'.repeat(level)} ${title} (${length})`).join('\n')
}
