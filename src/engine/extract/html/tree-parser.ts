/** The tree construction of parse5, with the rules of the HTML standard for `<select>` that it does not have yet. */
import { html, InsertionMode, Parser, type Token } from 'parse5'
import type { HtmlHandler } from './handler.ts'
import { StartTag } from './start-tag.ts'
import type { ElementNode } from '../tree.ts'
import type { NodeAdapter, Types } from './tree-adapter.ts'

const { SELECT, INPUT, OPTION, OPTGROUP, HR, TD, TH, CAPTION } = html.TAG_ID

/** Modes in which a `<select>` may begin, and which continue in it; others become `IN_BODY`. */
const continued = new Set([
  InsertionMode.IN_TABLE,
  InsertionMode.IN_TABLE_BODY,
  InsertionMode.IN_ROW,
  InsertionMode.IN_CAPTION,
  InsertionMode.IN_CELL,
])

/** Builds a tree from the tokens of our tokenizer. */
export class TreeParser extends Parser<Types> implements HtmlHandler {
  /** Highest number of open elements. */
  depth = 0

  get isForeign(): boolean {
    return this.currentNotInHTML
  }

  get joinsText(): boolean {
    const isInBody = this.insertionMode === InsertionMode.IN_BODY || this.insertionMode === InsertionMode.IN_CELL
    return isInBody && !this.skipNextNewLine && !this.tokenizer.inForeignNode
  }

  get splitsText(): boolean {
    return this.insertionMode === InsertionMode.IN_FRAMESET || this.insertionMode >= InsertionMode.AFTER_FRAMESET
  }

  override onItemPush(element: ElementNode, tagId: number, isTop: boolean): void {
    if (this.openElements.stackTop > this.depth) this.depth = this.openElements.stackTop
    super.onItemPush(element, tagId, isTop)
  }

  override _adoptNodes(donor: ElementNode, recipient: ElementNode): void {
    this.#adapter.adopt(donor, recipient)
  }

  override _appendElement(token: Token.TagToken, namespace: html.NS): void {
    if (namespace === html.NS.HTML && token instanceof StartTag) this.#attach(token)
    else super._appendElement(token, namespace)
  }

  override _insertElement(token: Token.TagToken, namespace: html.NS): void {
    if (namespace === html.NS.HTML && token instanceof StartTag)
      this.openElements.push(this.#attach(token), token.tagID)
    else super._insertElement(token, namespace)
  }

  /** Adds an element that takes the attributes of its token without a list of them. */
  #attach(token: StartTag): ElementNode {
    const adapter = this.#adapter
    const element = adapter.createHtmlElement(token.tagName, token.takeAttributes())
    if (this._shouldFosterParentOnInsertion()) this._attachElementToTree(element, null, this._getInsertionLocation())
    else adapter.appendChild(this.openElements.currentTmplContentOrNode ?? this.document, element)
    return element
  }

  get #adapter(): NodeAdapter {
    return this.treeAdapter as unknown as NodeAdapter
  }

  override _startTagOutsideForeignContent(token: Token.TagToken): void {
    const { tagID } = token
    if (tagID !== SELECT && tagID !== INPUT && tagID !== OPTION && tagID !== OPTGROUP && tagID !== HR) {
      super._startTagOutsideForeignContent(token)
      return
    }
    if (this.#isInSelect()) {
      if (tagID === SELECT || tagID === INPUT) this.openElements.popUntilTagNamePopped(SELECT)
      else if (tagID === OPTION) this.openElements.generateImpliedEndTagsWithExclusion(OPTGROUP)
      else this.openElements.generateImpliedEndTags()
      if (tagID === SELECT) return
    }
    const before = this.insertionMode === InsertionMode.IN_TABLE_TEXT ? this.originalInsertionMode : this.insertionMode
    super._startTagOutsideForeignContent(token)
    const isInSelect =
      this.insertionMode === InsertionMode.IN_SELECT || this.insertionMode === InsertionMode.IN_SELECT_IN_TABLE
    if (isInSelect) this.insertionMode = continued.has(before) ? before : InsertionMode.IN_BODY
  }

  override _endTagOutsideForeignContent(token: Token.TagToken): void {
    if (token.tagID !== SELECT || !this.#isInSelect()) {
      super._endTagOutsideForeignContent(token)
      return
    }
    this.openElements.generateImpliedEndTags()
    this.openElements.popUntilTagNamePopped(SELECT)
  }

  #isInSelect(): boolean {
    return this.insertionMode >= InsertionMode.IN_BODY && this.openElements.hasInScope(SELECT)
  }

  override _resetInsertionModeForSelect(): void {
    const { openElements } = this
    if (openElements.hasInTableScope(TD) || openElements.hasInTableScope(TH)) this.insertionMode = InsertionMode.IN_CELL
    else this.insertionMode = openElements.hasInTableScope(CAPTION) ? InsertionMode.IN_CAPTION : InsertionMode.IN_BODY
  }
}
