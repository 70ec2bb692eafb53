/** The tokenizer of htmlparser2, which finds the next mark instead of testing every character in between. */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'

/** Members that the package declares private; its version is pinned. */
interface Internals {
  buffer: string
  currentSequence: Uint8Array
  sectionStart: number
  xmlMode: boolean
  index: number
  fastForwardTo(code: number): boolean
  stateText(code: number): void
  stateInSpecialTag(code: number): void
  handleInAttributeValue(code: number, quote: number): void
}

const Base = Tokenizer as unknown as new (
  options: ConstructorParameters<typeof Tokenizer>[0],
  callbacks: TokenizerCallbacks,
) => Internals & Pick<Tokenizer, 'write' | 'end'>

const [lessThan, ampersand] = ['<', '&'].map((mark) => mark.charCodeAt(0)) as [number, number]

/** `xml`: XML with the character references of HTML; `selfClosing`: HTML in which any tag may be self-closing. */
export interface Syntax {
  readonly xml?: boolean
  readonly selfClosing?: boolean
}

/** Tokenizes one text as HTML, with character references decoded. */
export class HtmlTokenizer extends Base {
  /** Offsets of the next marks, by their codes; a text may have many of one before the first of another. */
  readonly #next: number[] = []

  constructor(callbacks: TokenizerCallbacks, { xml = false, selfClosing = xml }: Syntax = {}) {
    // The mode selects the character references when the tokenizer is created.
    super({ xmlMode: false, decodeEntities: true, recognizeSelfClosing: selfClosing }, callbacks)
    this.xmlMode = xml
  }

  override fastForwardTo(code: number): boolean {
    this.index++
    return this.#moveTo(this.#offsetOf(code))
  }

  override stateText(code: number): void {
    super.stateText(code === lessThan || code === ampersand ? code : this.#skipTo(lessThan))
  }

  override stateInSpecialTag(code: number): void {
    const end = this.index === this.sectionStart && isScriptEnd(this.currentSequence) ? scriptEnd(this.buffer, this.index) : this.index // prettier-ignore
    // The parser moves on by one character.
    if (end > this.index) this.index = end - 1
    else super.stateInSpecialTag(code)
  }

  override handleInAttributeValue(code: number, quote: number): void {
    super.handleInAttributeValue(code === quote || code === ampersand ? code : this.#skipTo(quote), quote)
  }

  /** Moves to the next `&` or mark; returns it, or 0 when there is none. */
  #skipTo(code: number): number {
    const at = Math.min(this.#offsetOf(code), this.#offsetOf(ampersand))
    return this.#moveTo(at) ? this.buffer.charCodeAt(at) : 0
  }

  /** Moves to an offset, or to the last character if it is the end of the text. */
  #moveTo(offset: number): boolean {
    const isFound = offset < this.buffer.length
    this.index = isFound ? offset : this.buffer.length - 1
    return isFound
  }

  /** Returns the offset of the next mark, or the end of the text. */
  #offsetOf(code: number): number {
    const known = this.#next[code]
    if (known !== undefined && known >= this.index) return known
    const at = this.buffer.indexOf(String.fromCharCode(code), this.index)
    return (this.#next[code] = at < 0 ? this.buffer.length : at)
  }
}

/** Whether a sequence of character codes is `</script`. */
const isScriptEnd = (codes: Uint8Array): boolean => String.fromCharCode(...codes) === '</script'

/** Returns the offset of the end tag of a script; `<!-- <script>` hides one. */
function scriptEnd(text: string, from: number): number {
  const pattern = /<!--|-->|<\/?script(?=[\t\n\f />])/gi
  pattern.lastIndex = from
  let state: 'data' | 'escaped' | 'double' = 'data'
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [mark] = found
    if (mark === '<!--') {
      if (state === 'data') state = 'escaped'
      // `<!-->` is also its end.
      pattern.lastIndex = found.index + 2
    } else if (mark === '-->') state = 'data'
    else if (mark.length === '<script'.length) {
      if (state === 'escaped') state = 'double'
    } else if (state === 'double') state = 'escaped'
    else return found.index
  }
  return text.length
}
