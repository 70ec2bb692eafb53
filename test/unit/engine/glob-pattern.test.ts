/** Globs of URLs as regular expressions of a Playwright test. */
import { expect, test } from 'vitest'
import { globPattern } from '../../../src/engine/browser/journal/playwright/glob-pattern.ts'
import { matcher } from '../../../src/engine/browser/page/matcher.ts'

const urls = [
  'http://a.test',
  'http://a.test/',
  'http://a.test/x?do=media&ns=',
  'http://a.test/orders/12',
  'http://b.test/y/z',
]

test.each([
  '**do=media**',
  'http://a.test/x{?,?**&}do=media{,&**}',
  'http://a.test',
  'http://a.test/orders/*{,?**}',
  '**/y/*',
  'http://a.test/x?do=media&ns=',
  '**',
])('%s matches the same URLs', (glob) => {
  const literal = globPattern(glob)
  const end = literal.lastIndexOf('/')
  const pattern = new RegExp(literal.slice(1, end), literal.slice(end + 1))
  expect(urls.filter((url) => pattern.test(url))).toEqual(urls.filter(matcher({ glob }, 'url')))
})
