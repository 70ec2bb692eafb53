/** Globs of the URLs that a recorded script waits for. */
import { expect, test } from 'vitest'
import { literalGlob } from '../../../src/core/text/literal-glob.ts'
import { matcher } from '../../../src/engine/browser/page/matcher.ts'
import { waitGlob } from '../../../src/engine/browser/script-recorder/wait-glob.ts'

test.each([
  ['http://shop.test/cart', ['http://shop.test/cart', 'http://shop.test/cart?a=1/2'], ['http://shop.test/cart2']],
  ['http://shop.test/orders/1234/done', ['http://shop.test/orders/99/done'], ['http://shop.test/orders/1/2/done']],
  ['http://shop.test/?x#/cart', ['http://shop.test/#/cart', 'http://shop.test/?y#/cart'], ['http://shop.test/']],
  ['http://shop.test/a(1)[b]', ['http://shop.test/a(1)[b]'], ['http://shop.test/a1b']],
  ['about:blank', ['about:blank'], ['about:srcdoc']],
])('the glob of %s', (url, matching, others) => {
  const matches = matcher({ glob: waitGlob(url)! }, 'url')
  expect(matching.map(matches)).toEqual(matching.map(() => true))
  expect(others.map(matches)).toEqual(others.map(() => false))
})

test.each([
  ['http://m.test/?task=mail&id=7', 'http://m.test/?task=mail', 'http://m.test/?id=7', 'http://m.test/?id=70'],
  [
    'http://m.test/?task=mail&id=7#list',
    'http://m.test/?task=ab&id=7#list',
    'http://m.test/?task=mail&id=8#list',
    'http://m.test/?task=mail2#list',
  ],
  [
    'http://m.test/i.php?route=%2Fsql&t=1',
    'http://m.test/i.php?t=1',
    'http://m.test/i.php?t=2&route=%2Fsql',
    'http://m.test/i.php?route=%2F',
  ],
  ['http://m.test/orders/123', 'http://m.test/orders/new', 'http://m.test/orders/45', 'http://m.test/orders/old'],
  [
    'http://m.test/#/books?filter=%7B%22q%22%3A%22tea%22%7D&page=1',
    'http://m.test/#/books?page=1',
    'http://m.test/?x#/books?page=2&filter=%7B%22q%22%3A%22tea%22%7D',
    'http://m.test/#/books?filter=%7B%7D&page=1',
  ],
  ['http://m.test/#/a?page=2', 'http://m.test/#/a?page=1', 'http://m.test/#/a?page=2&x', 'http://m.test/#/a?page=3'],
  ['http://m.test/?q=a%20b', 'http://m.test/', 'http://m.test/?q=a%20b&x=1', 'http://m.test/?q=a%20c'],
  ['http://m.test/?token=0123456789', 'http://m.test/', 'http://m.test/?token=9876543210', 'http://m.test/?other=1'],
])('the glob of %s does not match the URL before it, %s', (url, before, same, other) => {
  const matches = matcher({ glob: waitGlob(url, before)! }, 'url')
  expect([url, before, same, other].map(matches)).toEqual([true, false, true, false])
})

test.each([
  ['http://m.test/in?user=ann&pw=***', 'http://m.test/in', 'http://m.test/in?user=ann&pw=a%20b'],
  ['http://m.test/in?[redacted]', 'http://m.test/in', 'http://m.test/in?correct+horse'],
  ['http://m.test/u/***/x', 'http://m.test/', 'http://m.test/u/ann/x'],
  ['http://m.test/#/in/***', 'http://m.test/', 'http://m.test/#/in/x'],
  ['http://***.test/in', 'http://m.test/', 'http://x.test/in'],
])('the glob of %s matches any secret', (url, before, same) => {
  const glob = waitGlob(url, before)!
  expect(glob).not.toMatch(/\\\*|redacted/)
  const matches = matcher({ glob }, 'url')
  expect([matches(same), matches(before)]).toEqual([true, false])
})

test('no glob is made that would also match the URL before it', () => {
  expect(waitGlob('http://m.test/orders/12', 'http://m.test/orders/13')).toBeUndefined()
  expect(waitGlob('http://m.test/', 'http://m.test/')).toBeUndefined()
})

test('a literal glob matches a URL with a query', () => {
  const url = 'http://wiki.test/doku.php?id=a*b&do=edit'
  const matches = matcher({ glob: literalGlob(url) }, 'url')
  expect([matches(url), matches(url.replace('*', 'x'))]).toEqual([true, false])
})
