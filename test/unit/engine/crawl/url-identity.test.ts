import { describe, expect, test } from 'vitest'
import {
  crawlableUrl,
  equivalenceOf,
  identityOf,
  strictEquivalence,
} from '../../../../src/engine/crawl/queue/url-identity.ts'
import { pathRules, Scope, type ScopeOptions } from '../../../../src/engine/crawl/queue/scope.ts'

const same = (a: string, b: string, folding = strictEquivalence) =>
  identityOf(crawlableUrl(a)!, folding) === identityOf(crawlableUrl(b)!, folding)

describe('URLs of one page', () => {
  test.each([
    ['http://x.test/a#part', 'http://x.test/a'],
    ['http://X.test:80/a', 'http://x.test/a'],
    ['http://x.test/a/', 'http://x.test/a'],
    ['http://x.test/a/index.html', 'http://x.test/a/'],
    ['http://x.test/index.html', 'http://x.test'],
    ['http://x.test/%7Eann/%e4', 'http://x.test/~ann/%E4'],
    ['http://x.test/a?', 'http://x.test/a'],
    ['http://ann:pw@x.test/a', 'http://x.test/a'],
    ['http://x.test/a/../b', 'http://x.test/b'],
    ['http://x.test/a', 'https://x.test/a'],
  ])('%s is the same page as %s', (a, b) => expect(same(a, b)).toBe(true))

  test.each([
    ['http://x.test/a?x=1', 'http://x.test/a?x=2'],
    ['http://x.test/a?x=1', 'http://x.test/a'],
    ['http://x.test/A', 'http://x.test/a'],
    ['http://x.test/#/a', 'http://x.test/#/b'],
    ['http://x.test/#!a', 'http://x.test/'],
    ['http://x.test/a', 'http://www.x.test/a'],
    ['http://x.test/a', 'https://x.test:8443/a'],
    ['http://x.test:8080/a', 'https://x.test:8080/a'],
    ['http://x.test/a%2Fb', 'http://x.test/a/b'],
    ['http://x.test/myindex.html', 'http://x.test/my'],
  ])('%s is another page than %s', (a, b) => expect(same(a, b)).toBe(false))

  test('ignores www if the start page redirects between both forms', () => {
    const folding = equivalenceOf(new URL('http://x.test/'), new URL('https://www.x.test/'))
    expect(same('http://x.test/a', 'https://www.x.test/a', folding)).toBe(true)
    const other = equivalenceOf(new URL('http://x.test/'), new URL('https://y.test/'))
    expect(same('http://y.test/a', 'https://www.y.test/a', other)).toBe(false)
  })

  test.each(['mailto:a@x.test', 'javascript:void 0', 'ftp://x.test/', 'nonsense', 'data:text/html,x'])(
    '%s is no page',
    (address) => expect(crawlableUrl(address)).toBeUndefined(),
  )
})

const wishes: ScopeOptions = {
  include_paths: [],
  exclude_paths: [],
  allow_subdomains: false,
  allow_external_links: false,
}

function scopeOf(given: Partial<ScopeOptions> = {}, asked = 'https://x.test/', reached = asked) {
  const all = { ...wishes, ...given }
  const scope = new Scope(all, pathRules(all), new URL(asked), new URL(reached))
  return (address: string) => scope.skipReason(new URL(address))
}

describe('the scope', () => {
  test('is the host and port of the start page', () => {
    const refuses = scopeOf()
    expect(refuses('https://x.test/a')).toBeUndefined()
    expect(refuses('http://x.test/a')).toBeUndefined()
    expect(scopeOf({}, 'http://x.test/')('https://x.test/b')).toBeUndefined()
    for (const other of [
      'https://y.test/',
      'https://x.test:8443/',
      'https://a.x.test/',
      'https://x.test.evil/',
      'http://x.test:443/',
    ])
      expect(refuses(other), other).toBe('off_host')
  })

  test('includes the redirect target in both forms', () => {
    const refuses = scopeOf({}, 'http://x.test/', 'https://www.x.test/')
    for (const own of ['http://x.test/a', 'https://x.test/a', 'https://www.x.test/a', 'http://www.x.test/a'])
      expect(refuses(own), own).toBeUndefined()
    expect(refuses('https://a.x.test/')).toBe('off_host')
  })

  test('includes subdomains if allowed, but no similar hosts', () => {
    const refuses = scopeOf({ allow_subdomains: true }, 'https://www.x.test/')
    expect(refuses('https://docs.x.test/')).toBeUndefined()
    expect(refuses('https://a.docs.x.test/')).toBeUndefined()
    expect(refuses('https://notx.test/')).toBe('off_host')
    expect(refuses('https://docs.x.test:1/')).toBe('off_host')
  })

  test('includes all hosts if allowed', () => {
    expect(scopeOf({ allow_external_links: true })('http://y.test:81/')).toBeUndefined()
  })
})

describe('globs', () => {
  const passes = (glob: string, path: string) =>
    scopeOf({ include_paths: [glob] })(`https://x.test${path}`) === undefined

  test.each([
    ['/docs/**', '/docs'],
    ['/docs/**', '/docs/'],
    ['/docs/**', '/docs/a/b.html'],
    ['docs/**', '/docs/a'],
    ['/docs', '/docs/'],
    ['/docs/*', '/docs/a/'],
    ['**/*.html', '/a/b/c.html'],
    ['/{a,b}/**', '/b/c'],
    ['/grüße/**', '/gr%C3%BC%C3%9Fe/x'],
    ['/a b/*', '/a%20b/c'],
    ['/.well-known/**', '/.well-known/x'],
    ['/**', '/'],
  ])('%s matches %s', (glob, path) => expect(passes(glob, path)).toBe(true))

  test.each([
    ['/docs/**', '/docsx'],
    ['/docs/*', '/docs/a/b'],
    ['/docs', '/docs/a'],
    ['*.html', '/a/b.html'],
    ['/Docs/**', '/docs/a'],
  ])('%s does not match %s', (glob, path) => expect(passes(glob, path)).toBe(false))

  test('a path that is not UTF-8 is matched undecoded', () => expect(passes('/%E4', '/%E4')).toBe(true))
})
