/** The interface between the tokenizer and the parser that takes its tokens. */
import type { TokenHandler } from 'parse5'

export interface HtmlHandler extends TokenHandler {
  /** Whether the current node is an SVG or MathML element, where CDATA sections exist. */
  readonly isForeign: boolean
  /** Whether white space before other characters needs no token of its own. */
  readonly joinsText: boolean
  /** Whether white space and other characters of a text are separate tokens, as in `<frameset>`. */
  readonly splitsText: boolean
}
