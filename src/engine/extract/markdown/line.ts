/** Collects a line of text: collapses white space, moves it out of emphasis, omits empty links and emphasis. */
import { collapse } from '../tree.ts'
import { lineText, type Mark, type Span, type Token } from './line-text.ts'

/** How line breaks are written: as hard breaks, spaces (headings) or `<br>` (table cells). */
export type Breaks = 'hard' | 'space' | 'tag'

/** A span of the source; every break ends its span in the output and opens another. */
interface Entry {
  span: Span
}

export class Line {
  readonly #breaks: Breaks
  #tokens: Token[] = []
  readonly #paragraphs: Token[][] = []
  /** Spans that were opened in the source but have no content yet. */
  #waiting: Entry[] = []
  readonly #open: Entry[] = []
  #spaced = false
  #broken = 0
  /** Whether the text follows a marker without a break. */
  #isMarked = false

  constructor(breaks: Breaks) {
    this.#breaks = breaks
  }

  text(text: string): void {
    // Soft hyphens are visible at the end of a line only.
    const words = collapse(text.includes('\u00AD') ? text.replaceAll('\u00AD', '') : text)
    if (words === '') return
    const isSpaced = words.startsWith(' ')
    const endsSpaced = words.endsWith(' ')
    if (isSpaced) this.#spaced = true
    const value = isSpaced || endsSpaced ? words.slice(isSpaced ? 1 : 0, endsSpaced ? -1 : undefined) : words
    if (value === '') return
    // Editors write empty lines as no-break spaces.
    if ((this.#broken > 0 || this.#tokens.length === 0) && value.trim() === '') return
    this.#before()
    this.#append(value)
    this.#spaced = endsSpaced
  }

  /** Adds finished Markdown: an image, a formula. */
  atom(markdown: string): void {
    if (markdown === '') return
    this.#before()
    this.#tokens.push({ kind: 'atom', value: markdown })
  }

  /** Adds a code span; adjacent ones are merged, because Markdown cannot separate them. */
  code(text: string): void {
    if (text === '') return
    this.#before()
    const last = this.#tokens.at(-1)
    if (last?.kind === 'code') last.value += text
    else this.#tokens.push({ kind: 'code', value: text })
  }

  /** Adds the marker of an item; breaks between it and its text are omitted. */
  marker(text: string): void {
    this.text(text)
    this.#isMarked = true
  }

  /** Adds finished Markdown directly after the last token; pending white space follows it. */
  end(markdown: string): void {
    this.#tokens.push({ kind: 'atom', value: markdown })
  }

  /** Separates words, as around buttons and cells. */
  space(): void {
    this.#spaced = true
  }

  break(): void {
    if (this.#isMarked) return
    if (this.#breaks === 'space') this.#spaced = true
    else this.#broken++
  }

  /** Applies bold, italics or strike-through to the content that `content` adds. */
  marked(mark: Mark, content: () => void): void {
    this.#spanned({ mark }, content)
  }

  /** Links the content that `content` adds. */
  linked(url: string | undefined, content: () => void): void {
    if (url === undefined) content()
    else this.#spanned({ url }, content)
  }

  /** Returns the finished paragraphs, which are separated by two consecutive breaks. */
  paragraphs(): string[] {
    const place = ({ hard: 'paragraph', space: 'heading', tag: 'cell' } as const)[this.#breaks]
    if (this.#paragraphs.length === 0 && this.#tokens.length === 0) return []
    return [...this.#paragraphs, this.#tokens].map((tokens) => lineText(tokens, place)).filter((text) => text !== '')
  }

  #spanned(span: Span, content: () => void): void {
    const same = ({ span: other }: Entry) =>
      'url' in span ? 'url' in other : 'mark' in other && other.mark === span.mark
    if (this.#open.some(same) || this.#waiting.some(same)) return content()
    const entry = { span }
    this.#waiting.push(entry)
    content()
    const waits = this.#waiting.lastIndexOf(entry)
    if (waits >= 0) {
      this.#waiting.splice(waits, 1)
      return
    }
    this.#open.splice(this.#open.lastIndexOf(entry), 1)
    this.#tokens.push({ kind: 'close', span: entry.span })
  }

  /** Writes what was deferred until content follows: breaks, a space, the starts of spans. */
  #before(): void {
    const empty = this.#tokens.length === 0
    if (this.#broken > 0 && !empty) this.#writeBreak()
    else if (this.#spaced && !empty) this.#append(' ')
    if (this.#waiting.length > 0) {
      for (const entry of this.#waiting) this.#begin(entry)
      this.#waiting = []
    }
    this.#spaced = false
    this.#isMarked = false
    this.#broken = 0
  }

  #begin(entry: Entry): void {
    const last = this.#tokens.at(-1)
    const continues = last?.kind === 'close' && 'mark' in last.span && 'mark' in entry.span
    // `**a****b**` is not two bold words, so the first span is continued.
    if (continues && last.span.mark === (entry.span as { mark: Mark }).mark) {
      this.#tokens.pop()
      entry.span = last.span
    } else {
      this.#tokens.push({ kind: 'open', span: entry.span })
    }
    this.#open.push(entry)
  }

  /** Writes a break; open spans are closed before it and reopened after it. */
  #writeBreak(): void {
    if (this.#breaks === 'tag') {
      this.#tokens.push({ kind: 'atom', value: '<br>' })
      return
    }
    for (let at = this.#open.length - 1; at >= 0; at--) this.#tokens.push({ kind: 'close', span: this.#open[at]!.span })
    if (this.#broken > 1) {
      this.#paragraphs.push(this.#tokens)
      this.#tokens = []
    } else {
      this.#tokens.push({ kind: 'break' })
    }
    for (const entry of this.#open) {
      entry.span = { ...entry.span }
      this.#tokens.push({ kind: 'open', span: entry.span })
    }
  }

  #append(text: string): void {
    const last = this.#tokens.at(-1)
    if (last?.kind === 'text') last.value += text
    else this.#tokens.push({ kind: 'text', value: text })
  }
}
