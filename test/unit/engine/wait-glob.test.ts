/** Globs of the URLs that a recorded script waits for. */
import { expect, test } from 'vitest'
import { literalGlob } from '../../../src/core/text/literal-glob.ts'
import { matcher } from '../../../src/engine/browser/batch/matcher.ts'
import { waitGlob } from '../../../src/engine/browser/script-recorder/wait-glob.ts'

test.each([
  ['http://shop.test/cart', ['http://shop.test/cart', 'http://shop.test/cart?a=1/2'], ['http://shop.test/cart2']],
  ['http://shop.test/orders/1234/done', ['http://shop.test/orders/99/done'], ['http://shop.test/orders/1/2/done']],
  ['http://shop.test/?x#/cart', ['http://shop.test/#/cart', 'http://shop.test/?y#/cart'], ['http://shop.test/']],
  ['http://shop.test/a(1)[b]', ['http://shop.test/a(1)[b]'], ['http://shop.test/a1b']],
  ['about:blank', ['about:blank'], ['about:srcdoc']],
])('the glob of %s', (url, matching, others) => {
  const matches = matcher({ glob: waitGlob(url) }, 'url')
  expect(matching.map(matches)).toEqual(matching.map(() => true))
  expect(others.map(matches)).toEqual(others.map(() => false))
})

test('a literal glob matches a URL with a query', () => {
  const url = 'http://wiki.test/doku.php?id=a*b&do=edit'
  const matches = matcher({ glob: literalGlob(url) }, 'url')
  expect([matches(url), matches(url.replace('*', 'x'))]).toEqual([true, false])
})
