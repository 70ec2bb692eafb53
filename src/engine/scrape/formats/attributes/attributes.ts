/** The format attributes: values of attributes of the elements that match selectors. */
import { BaxError } from '../../../../core/errors/errors.ts'
import { limits } from '../../../../core/limits/limits.ts'
import type { AttributeSelector, AttributeValues } from '../../../../core/shapes/read/attributes.ts'
import type { ElementNode } from '../../../extract/tree.ts'
import { attributeNamed, Matcher } from './matcher.ts'

export interface AttributeQuery extends AttributeSelector {
  /** Path of the selector in the input, for errors. */
  readonly field: string
}

/** Checks selectors before a page is fetched. @throws BaxError `invalid_request` that names the invalid selector */
export function checkSelectors(queries: readonly AttributeQuery[]): void {
  readSelectors(queries)
}

function readSelectors(given: readonly AttributeQuery[]) {
  const matcher = new Matcher()
  const queries = given.map(({ selector, attribute, field: path }) => {
    try {
      return { selector, attribute, matches: matcher.add(selector), values: [] as string[] }
    } catch (cause) {
      const why = cause instanceof RangeError ? 'it is nested too deeply' : (cause as Error).message
      throw new BaxError('invalid_request', `${path} ${JSON.stringify(selector)} is not valid: ${why}`, {
        details: [{ path, message: `is not a CSS selector that can be used: ${why}` }],
        cause,
      })
    }
  })
  return { matcher, queries }
}

/** Reads the values from the whole page, whatever part of it the main content is. */
export function attributesOf(
  root: ElementNode,
  given: readonly AttributeQuery[],
): { values: AttributeValues; warnings: string[] } {
  const { matcher, queries } = readSelectors(given)
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
