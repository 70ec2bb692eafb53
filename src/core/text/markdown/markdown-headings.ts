/** Finds the headings of Markdown, by the rules of CommonMark for its blocks. */

export interface Heading {
  readonly level: number
  readonly title: string
  /** Position of the heading, in characters. */
  readonly offset: number
}

/** A block in which nothing is a heading. */
interface Opaque {
  /** Indentation of the list item that contains it, with which it ends; 0 without any. */
  readonly item: number
  isEnd(content: string, indent: number): boolean
}

/** Characters that are read of a line, and of a heading. */
const longestLine = 1_000_000

/** Returns the headings in their order. */
export function headingsIn(markdown: string): Heading[] {
  const reader = new HeadingReader(markdown)
  const lineEnd = /\r\n?|\n|$/g
  let offset = frontMatterLength(markdown)
  while (offset < markdown.length) {
    lineEnd.lastIndex = offset
    const { index, 0: end } = lineEnd.exec(markdown)!
    reader.read(markdown.slice(offset, Math.min(index, offset + longestLine)), offset)
    offset = index + end.length
  }
  return reader.headings
}

const underline = /^(?:(=+)|-+)[ \t]*$/
const rule = /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
/** Beginnings of headings, list items, quotes, tables, code and HTML, which end a paragraph. */
const blockStart =
  /^(?:#{1,6}(?:[ \t]|$)|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|[>|]|`{3}|~{3}|<(?:[!?]|(?:script|pre|style|textarea)(?:[ \t>]|$)))/i

class HeadingReader {
  readonly headings: Heading[] = []
  readonly #markdown: string
  #opaque: Opaque | undefined
  /** The block that further text continues; only a paragraph has a `start`. */
  #open: { readonly start?: number } | undefined
  /** Indentation of the text of the outermost open list item; 0 without any. */
  #item = 0

  constructor(markdown: string) {
    this.#markdown = markdown
  }

  read(text: string, offset: number): void {
    const content = text.replace(/^[ \t]+/, '')
    const indent = widthOf(text, text.length - content.length)
    // The end of a list item ends what is in it.
    if (this.#opaque && content !== '' && indent < this.#opaque.item) this.#opaque = undefined
    if (this.#opaque) {
      if (this.#opaque.isEnd(content, indent)) this.#opaque = undefined
    } else if (content === '') this.#open = undefined
    else this.#readBlock(text, { content, indent, offset })
  }

  #readBlock(text: string, line: { content: string; indent: number; offset: number }): void {
    const { content, indent, offset } = line
    const depth = indent < this.#item ? indent : indent - this.#item
    const isText = depth > 3 || (!blockStart.test(content) && !rule.test(content))
    const [isUnderline, equals] = (depth <= 3 && underline.exec(content)) || []
    if (isUnderline !== undefined && this.#open?.start !== undefined && indent >= this.#item) {
      this.#add(equals === undefined ? 2 : 1, this.#markdown.slice(this.#open.start, offset), this.#open.start)
      return
    }
    // Text continues the paragraph of a list item, whatever its indentation.
    if (indent < this.#item && !(isText && this.#open)) this.#item = 0
    if (isText) {
      if (depth <= 3) this.#open ??= { start: offset }
      return
    }
    this.#open = undefined
    const [, signs] = /^(#{1,6})(?:[ \t]|$)/.exec(content) ?? []
    if (signs !== undefined) this.#add(signs.length, withoutClosing(content.slice(signs.length)), offset)
    else if (!rule.test(content)) this.#begin(text)
  }

  #add(level: number, text: string, offset: number): void {
    this.headings.push({ level, title: plainTitle(text), offset })
    this.#open = undefined
  }

  /** Begins list items, quotes, tables, code or HTML. */
  #begin(text: string): void {
    const starts = itemStarts(text)
    const start = starts.at(-1) ?? 0
    if (starts.length > 0 || /^\s*[>|]/.test(text)) this.#open = {}
    if (starts.length > 0 && this.#item === 0) this.#item = widthOf(text, starts[0]!)
    this.#opaque = opaqueAt(
      text.slice(start).replace(/^[ \t]+/, ''),
      starts.length > 0 ? widthOf(text, start) : this.#item,
    )
    if (this.#opaque) this.#open = undefined
  }
}

/** Returns the width of the first characters of a line, of which only tabs are wide. */
function widthOf(text: string, length: number): number {
  let width = 0
  for (let at = 0; at < length; at++) width += text[at] === '\t' ? 4 - (width % 4) : 1
  return width
}

/** Returns the positions at which the texts of the list items of a line begin. */
function itemStarts(text: string): number[] {
  const marker = /[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]{1,4}(?![ \t])|[ \t]|$)/y
  const starts: number[] = []
  while (marker.test(text)) starts.push(marker.lastIndex)
  return starts
}

/** Kinds of HTML that blank lines do not end, by their beginning and their end. */
const htmlBlocks: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?:[ \t>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![a-z]/i, />/],
]

/** Returns the code or HTML that begins with a line, unless it also ends there. */
function opaqueAt(content: string, item: number): Opaque | undefined {
  const [mark = '', sign = ''] = /^(`|~)\1{2,}/.exec(content) ?? []
  if (mark !== '' && (sign === '~' || !content.includes('`', mark.length))) {
    const isMark = (text: string) => text.startsWith(mark) && text === sign.repeat(text.length)
    return { item, isEnd: (text, indent) => indent - item <= 3 && isMark(text.trimEnd()) }
  }
  const end = htmlBlocks.find(([start]) => start.test(content))?.[1]
  return end && !end.test(content) ? { item, isEnd: (text) => end.test(text) } : undefined
}

/** Returns the text of a heading without the signs at its end. */
function withoutClosing(text: string): string {
  const whole = text.trim()
  let end = whole.length
  while (whole[end - 1] === '#') end -= 1
  return end === 0 || /[ \t]/.test(whole[end - 1]!) ? whole.slice(0, end) : whole
}

/** Returns a heading as one line, without the signs of links, images, emphasis and code. */
const plainTitle = (title: string): string =>
  title
    .slice(0, longestLine)
    .replaceAll(/!?\[([^[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^[\]]*\])/g, '$1')
    .replaceAll(/(?<!\\)(?:[*`]|~~)|\b_(?=\s|$)|(?<=^|\s)_\b/g, '')
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Returns the text of a section below its heading. */
export function withoutHeading(section: string): string {
  const [signs] = /^\s{0,99}#{1,6}(?!\S)/.exec(section) ?? []
  if (signs === undefined)
    return section.replace(/^[^]*?[\r\n][ \t]{0,99}(?:={1,9999}|-{1,9999})[ \t]{0,99}(?![^\r\n])/, '')
  const rest = section.slice(signs.length)
  const end = rest.search(/[\r\n]/)
  return end === -1 ? '' : rest.slice(end)
}

/** Front matter is longer than this in no file; characters. */
export const maxFrontMatter = 64 * 1024

/** Returns the length of YAML front matter: lines of which some have keys, and none is other text. */
function frontMatterLength(markdown: string): number {
  const [block = '', yaml = ''] =
    /^---[ \t]*\r?\n([^]*?\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(markdown.slice(0, maxFrontMatter)) ?? []
  const lines = yaml.split('\n')
  const isYaml = lines.every((line) => /^(?:[\s#\]}]|- |$)|:(?:\s|$)/.test(line))
  return isYaml && lines.some((line) => /^[^\s#-].*:(?:\s|$)/.test(line)) ? block.length : 0
}
