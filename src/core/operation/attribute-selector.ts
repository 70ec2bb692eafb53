/** The short form of a selector and an attribute, `a.next@href`. */
import { BaxError } from '../errors/errors.ts'
import type { AttributeSelector } from '../shapes/read/attributes.ts'

/**
 * Splits at the last `@`, because selectors may contain one in a value.
 * @throws BaxError `invalid_request`, whose message begins with `field`
 */
export function readAttributeSelector(text: string, field: string): AttributeSelector {
  const at = text.lastIndexOf('@')
  const [selector, attribute] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  if (at > 0 && selector !== '' && attribute !== '') return { selector, attribute }
  throw new BaxError('invalid_request', `${field} ${JSON.stringify(text)} has no selector and attribute`, {
    hint: "write it as 'a.next@href'",
  })
}
