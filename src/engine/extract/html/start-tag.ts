/** Tokens of tags. */
import { type html, Token } from 'parse5'

/** A start tag whose attributes are those of its element; parse5 asks for a list of them only in rare cases. */
export class StartTag implements Token.TagToken {
  readonly type = Token.TokenType.START_TAG
  readonly location = null
  ackSelfClosing = false
  tagName: string
  tagID: html.TAG_ID
  readonly selfClosing: boolean
  #attributes: Record<string, string>
  #isTaken = false
  #attrs: Token.Attribute[] | undefined

  constructor(tagName: string, tagID: html.TAG_ID, selfClosing: boolean, attributes: Record<string, string>) {
    this.tagName = tagName
    this.tagID = tagID
    this.selfClosing = selfClosing
    this.#attributes = attributes
  }

  get attrs(): Token.Attribute[] {
    return (this.#attrs ??= Object.entries(this.#attributes).map(([name, value]) => ({ name, value })))
  }

  /** Returns the attributes for an element, which may change them; misnested tags have several elements. */
  takeAttributes(): Record<string, string> {
    if (this.#isTaken) return { ...this.#attributes }
    this.#isTaken = true
    return this.#attributes
  }
}

/** End tags have none; shared by all of them. */
const noAttributes: Token.Attribute[] = []

/** Returns the token of an end tag. */
export const endTag = (tagName: string, tagID: html.TAG_ID): Token.TagToken => ({
  type: Token.TokenType.END_TAG,
  tagName,
  tagID,
  selfClosing: false,
  ackSelfClosing: false,
  attrs: noAttributes,
  location: null,
})
