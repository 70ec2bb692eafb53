/** The format attributes: values of attributes of the elements that match selectors. */
import { limits } from '../../../../core/limits/limits.ts'
import type { AttributeSelector, AttributeValues } from '../../../../core/shapes/read/attributes.ts'
import type { ElementNode } from '../../../extract/tree.ts'
import { attributeNamed } from './matcher.ts'
import { compileSelectors, type SelectorQuery } from './selectors.ts'

export type AttributeQuery = AttributeSelector & SelectorQuery

/** Reads the values from the whole page, whatever part of it the main content is. */
export function attributesOf(
  root: ElementNode,
  given: readonly AttributeQuery[],
): { values: AttributeValues; warnings: string[] } {
  const { matcher, queries: compiled } = compileSelectors(given)
  const queries = compiled.map((query) => ({ ...query, values: [] as string[] }))
  let left = limits.scrape.attributeChars
  let omitted = 0
  matcher.run(root, ({ element, hits }) => {
    for (const { matches, attribute, values } of queries) {
      const value = matches(hits) ? attributeNamed(element, attribute) : undefined
      if (value === undefined) continue
      left -= value.length + valueOverhead
      if (left < 0) omitted++
      else values.push(value)
    }
  })
  return {
    values: queries.map(({ selector, attribute, values }) => ({ selector, attribute, values })),
    warnings: omitted > 0 ? [`attributes is incomplete: ${omitted} values are omitted, because all are too long`] : [],
  }
}

/** Characters that a value takes in addition to its text. */
const valueOverhead = 4
