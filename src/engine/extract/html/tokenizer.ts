/**
 * The tokenizer of the HTML standard for text that is complete: it searches for the next mark instead of testing every
 * character. Its tokens are those of parse5, whose parser builds the tree.
 */
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'
import { type html, Token, TokenizerMode } from 'parse5'
import { lastSlot, type Name, nameAt } from './name-cache.ts'
import { commentIn, doctypeIn, scriptEnd, tagEnd } from './raw-markup.ts'
import type { HtmlHandler } from './handler.ts'
import { endTag, StartTag } from './start-tag.ts'

const isSpace = (code: number): boolean =>
  code === 32 || (code < 14 && (code === 10 || code === 9 || code === 13 || code === 12))
const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122

const [exclamation, doubleQuote, singleQuote, slash, equals, greater, question] = [...'!"\'/=>?'].map((mark) =>
  mark.charCodeAt(0),
) as [number, number, number, number, number, number, number]

const whitespace = (chars: string) => ({ type: Token.TokenType.WHITESPACE_CHARACTER, chars, location: null }) as const

/** Number of attributes from which on a name is looked up in their object. */
const manyAttributes = 16

export interface HtmlSyntax {
  /** Whether `/>` closes any element, as in XHTML. */
  readonly selfClosing?: boolean
}

export class HtmlTokenizer {
  /** State of the standard's tokenizer; the parser sets it after start tags such as `<title>`. */
  state: number = TokenizerMode.DATA
  /** Set by the parser. */
  inForeignNode = false
  readonly #selfClosing: boolean
  readonly #text: string
  readonly #handler: HtmlHandler
  readonly #hasNulls: boolean
  /** Names of the attributes of the tag that is read. */
  readonly #attributeNames: string[] = []
  #attributeCount = 0
  #at = 0
  #lastStartTag: string

  constructor(source: string, handler: HtmlHandler, options: HtmlSyntax & { readonly lastStartTag?: string } = {}) {
    this.#text = source.includes('\r') ? source.replaceAll(/\r\n?/g, '\n') : source
    this.#handler = handler
    this.#hasNulls = source.includes('\0')
    this.#selfClosing = options.selfClosing ?? false
    this.#lastStartTag = options.lastStartTag ?? ''
  }

  run(): void {
    const { length } = this.#text
    while (this.#at < length) {
      if (this.state === TokenizerMode.DATA) this.#data()
      else this.#raw()
    }
    this.#handler.onEof({ type: Token.TokenType.EOF, location: null })
  }

  #data(): void {
    const text = this.#text
    const at = this.#at
    let end = text.indexOf('<', at)
    while (end >= 0 && !this.#isMarkup(text.charCodeAt(end + 1), text.charCodeAt(end + 2)))
      end = text.indexOf('<', end + 1)
    if (end < 0) end = text.length
    if (end > at) {
      this.#at = end
      this.#decoded(text.slice(at, end))
      return
    }
    const code = text.charCodeAt(at + 1)
    if (isLetter(code)) this.#startTag(at + 1)
    else if (code === slash) this.#closing(at + 2)
    else if (code === exclamation) this.#declaration(at + 2)
    else this.#bogusComment(at + 1)
  }

  #isMarkup(code: number, next: number): boolean {
    return isLetter(code) || code === exclamation || code === question || (code === slash && !Number.isNaN(next))
  }

  /** Reads the text of an element such as `<script>`, up to its end tag. */
  #raw(): void {
    const { state } = this
    const text = this.#text
    const at = this.#at
    let end = text.length
    if (state === TokenizerMode.SCRIPT_DATA) end = scriptEnd(text, at)
    else if (state === TokenizerMode.RCDATA || state === TokenizerMode.RAWTEXT)
      end = tagEnd(text, at, this.#lastStartTag)
    this.#at = end
    if (end > at) {
      const content = text.slice(at, end)
      if (state === TokenizerMode.RCDATA) this.#decoded(content, '\ufffd')
      else this.#emit(content, '\ufffd')
    }
    if (end < text.length) {
      this.state = TokenizerMode.DATA
      this.#endTag(end + 2)
    }
  }

  /** Emits text in which character references are decoded. */
  #decoded(text: string, replacement?: string): void {
    if (!text.includes('&')) return this.#emit(text, replacement)
    // A reference may be of a null character only by its replacement.
    this.#emit(decodeHTML(text), replacement)
  }

  #emit(text: string, replacement?: string): void {
    if (this.#hasNulls && text.includes('\0')) {
      if (replacement !== undefined) return this.#characters(text.replaceAll('\0', replacement))
      for (const part of text.split(/(\0)/)) {
        if (part === '\0')
          this.#handler.onNullCharacter({ type: Token.TokenType.NULL_CHARACTER, chars: part, location: null })
        else if (part !== '') this.#characters(part)
      }
      return
    }
    this.#characters(text)
  }

  #characters(text: string): void {
    const handler = this.#handler
    let at = 0
    while (at < text.length && isSpace(text.charCodeAt(at))) at++
    if (at > 0 && at < text.length && handler.joinsText) at = 0
    if (at > 0) handler.onWhitespaceCharacter(whitespace(at === text.length ? text : text.slice(0, at)))
    if (at === text.length) return
    const chars = at === 0 ? text : text.slice(at)
    if (!handler.splitsText) return handler.onCharacter({ type: Token.TokenType.CHARACTER, chars, location: null })
    for (const part of chars.split(/([\t\n\f\r ]+)/)) {
      if (part === '') continue
      if (isSpace(part.charCodeAt(0))) handler.onWhitespaceCharacter(whitespace(part))
      else handler.onCharacter({ type: Token.TokenType.CHARACTER, chars: part, location: null })
    }
  }

  #startTag(from: number): void {
    const { name, id } = this.#tagName(from)
    const attributes: Record<string, string> = {}
    this.#attributeCount = 0
    const selfClosing = this.#attributes(attributes)
    if (selfClosing === undefined) return
    this.#lastStartTag = name
    const token = new StartTag(name, id, selfClosing, attributes)
    this.#handler.onStartTag(token)
    if (!selfClosing || !this.#selfClosing || token.ackSelfClosing) return
    this.state = TokenizerMode.DATA
    this.#onEndTag(token.tagName, token.tagID)
  }

  #closing(from: number): void {
    const code = this.#text.charCodeAt(from)
    if (isLetter(code)) this.#endTag(from)
    else if (code === greater) this.#at = from + 1
    else this.#bogusComment(from)
  }

  #endTag(from: number): void {
    const { name, id } = this.#tagName(from)
    // Most end tags have nothing after their name.
    if (this.#text.charCodeAt(this.#at) === greater) this.#at++
    else if (this.#attributes({}) === undefined) return
    this.#onEndTag(name, id)
  }

  #onEndTag(tagName: string, tagID: html.TAG_ID): void {
    this.#handler.onEndTag(endTag(tagName, tagID))
  }

  #tagName(from: number): Name {
    const text = this.#text
    let at = from
    let slot = 0
    for (
      let code = text.charCodeAt(at);
      code !== greater && code !== slash && !isSpace(code) && at < text.length;
      code = text.charCodeAt(++at)
    )
      slot = (slot * 31 + code) & lastSlot
    this.#at = at
    return nameAt(text, from, at, slot)
  }

  /** Reads attributes up to the end of the tag; returns whether it is self-closing, undefined at the end of the text. */
  #attributes(attributes: Record<string, string>): boolean | undefined {
    const text = this.#text
    const { length } = text
    let at = this.#at
    for (;;) {
      let code = text.charCodeAt(at)
      while (isSpace(code)) code = text.charCodeAt(++at)
      if (at >= length) {
        this.#at = length
        return undefined
      }
      if (code === greater) {
        this.#at = at + 1
        return false
      }
      if (code === slash) {
        if (text.charCodeAt(++at) !== greater) continue
        this.#at = at + 1
        return true
      }
      at = this.#attribute(attributes, at)
    }
  }

  /** Reads an attribute; returns its end. */
  #attribute(attributes: Record<string, string>, from: number): number {
    const text = this.#text
    let at = from
    let slot = 0
    // A leading `=` belongs to the name.
    let code = text.charCodeAt(at)
    do {
      slot = (slot * 31 + code) & lastSlot
      code = text.charCodeAt(++at)
    } while (code !== equals && code !== greater && code !== slash && !isSpace(code) && at < text.length)
    const { name } = nameAt(text, from, at, slot)
    while (isSpace(code)) code = text.charCodeAt(++at)
    const hasValue = code === equals
    if (hasValue)
      do code = text.charCodeAt(++at)
      while (isSpace(code))
    if (!hasValue || code === greater) {
      this.#addAttribute(attributes, name, '')
      return at
    }
    let start = at
    let end: number
    if (code === doubleQuote || code === singleQuote) {
      start++
      end = text.indexOf(code === doubleQuote ? '"' : "'", start)
      if (end < 0) return text.length
      at = end + 1
    } else {
      while (code !== greater && !isSpace(code) && at < text.length) code = text.charCodeAt(++at)
      end = at
    }
    let value = text.slice(start, end)
    if (value.includes('&')) value = decodeHTMLAttribute(value)
    if (this.#hasNulls) value = value.replaceAll('\0', '\ufffd')
    this.#addAttribute(attributes, name, value)
    return at
  }

  /** Adds an attribute; the first one of a name wins. */
  #addAttribute(attributes: Record<string, string>, name: string, value: string): void {
    const names = this.#attributeNames
    const count = this.#attributeCount++
    // Looking up a name that an object does not have is slow.
    if (count < manyAttributes) {
      for (let index = 0; index < count; index++) if (names[index] === name) return
      names[count] = name
    } else if (Object.hasOwn(attributes, name)) return
    // An assignment to `__proto__` sets the prototype.
    if (name !== '__proto__') attributes[name] = value
  }

  #declaration(from: number): void {
    const text = this.#text
    if (text.startsWith('--', from)) return this.#comment(from + 2)
    if (text.startsWith('[CDATA[', from) && this.#handler.isForeign) {
      const end = text.indexOf(']]>', from + 7)
      this.#at = end < 0 ? text.length : end + 3
      const content = text.slice(from + 7, end < 0 ? text.length : end)
      if (content !== '') this.#emit(content)
      return
    }
    if (!/^doctype$/i.test(text.slice(from, from + 7))) return this.#bogusComment(from)
    const { token, end } = doctypeIn(text, from + 7)
    this.#at = end
    this.#handler.onDoctype({ type: Token.TokenType.DOCTYPE, ...token, location: null })
  }

  #comment(from: number): void {
    const text = this.#text
    const { data, end } = commentIn(text, from)
    this.#at = end
    this.#emitComment(data)
  }

  #bogusComment(from: number): void {
    const end = this.#text.indexOf('>', from)
    this.#at = end < 0 ? this.#text.length : end + 1
    this.#emitComment(this.#text.slice(from, end < 0 ? this.#text.length : end))
  }

  #emitComment(data: string): void {
    this.#handler.onComment({ type: Token.TokenType.COMMENT, data: data.replaceAll('\0', '\ufffd'), location: null })
  }
}
