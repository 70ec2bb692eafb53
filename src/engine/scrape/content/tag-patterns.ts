/** Patterns between asterisks in `include_tags` and `exclude_tags`, as in Firecrawl: `*cookie*`. */
import { RE2JS } from 're2js'
import { compileRe2 } from '../../linear-glob.ts'
import type { ElementNode } from '../../extract/tree.ts'
import type { SelectorQuery } from '../formats/attributes/selectors.ts'

/** Maximum length of the part of an attribute that patterns are compared with, in characters. */
const attributeChars = 1000

/** Whether a selector is a pattern. Between asterisks beside combinators and commas, it is CSS: `* > *`. */
export const isPattern = ({ selector }: SelectorQuery): boolean => /^\*[^\s>+~,](?:.*[^\s>+~,])?\*$/s.test(selector)

/**
 * Returns whether an element has a tag or an attribute, written as `name="value"`, in which one of the patterns is found,
 * without regard to case. `html`, `head` and `body` have none, since their attributes are about the whole page.
 * @throws BaxError `invalid_request` that names the invalid pattern
 */
export function compilePatterns(queries: readonly SelectorQuery[]): (element: ElementNode) => boolean {
  const sources = queries.map(({ selector, field }) => {
    const source = RE2JS.translateRegExp(selector.slice(1, -1))
    compileRe2(source, RE2JS.CASE_INSENSITIVE, field)
    return `(?:${source})`
  })
  if (sources.length === 0) return () => false
  // One expression takes as long as each of them.
  const any = compileRe2(sources.join('|'), RE2JS.CASE_INSENSITIVE, queries[0]!.field)
  return ({ tag, attributes }) =>
    !/^(?:html|head|body)$/.test(tag) &&
    (any.test(tag) ||
      Object.entries(attributes).some(([name, value]) => any.test(`${name}="${value.slice(0, attributeChars)}"`)))
}
