import { describe, expect, test } from 'vitest'
import { ResponseHeaders } from '../../../../src/engine/egress/response-headers.ts'
import { CookieJar, withChanges } from '../../../../src/engine/render/identity/cookie-jar.ts'
import type { JarCookie } from '../../../../src/engine/render/identity/set-cookie.ts'

const site = 'https://shop.example/'
const set = (...lines: string[]) => new ResponseHeaders(lines.map((line) => ['set-cookie', line] as const))
const cookie = (name: string, value: string, more: Partial<JarCookie> = {}): JarCookie => ({
  name,
  value,
  domain: 'shop.example',
  path: '/',
  expires: -1,
  httpOnly: false,
  secure: false,
  sameSite: 'Lax',
  ...more,
})
const after = (href: string, ...lines: string[]) => {
  const jar = new CookieJar()
  jar.receive(href, set(...lines))
  return jar.all()
}

describe('a cookie that browsers refuse is ignored', () => {
  test.each([
    ['of a public suffix', 'https://shop.co.uk/', 'a=1; Domain=co.uk'],
    ['of a suffix that many sites share', 'https://ann.github.io/', 'a=1; Domain=github.io'],
    ['of another site', site, 'a=1; Domain=other.example'],
    ['with the prefix of secure ones', site, '__Secure-a=1'],
    ['with the prefix of a host and a domain', site, '__Host-a=1; Secure; Path=/; Domain=shop.example'],
    ['with the prefix of a host and a path', site, '__host-a=1; Secure; Path=/x'],
    ['with a prefix in place of its name', site, '__Host-a'],
    ['of all sites over an open connection', site, 'a=1; SameSite=None'],
    ['for secure connections of an open one', 'http://shop.example/', 'a=1; Secure'],
  ])('%s', (_, href, line) => {
    expect(after(href, line)).toEqual([])
  })
})

test.each([
  ['of its own host, which is a public suffix', 'https://github.io/', 'a=1; Domain=github.io', 'github.io'],
  ['of a domain below a public suffix', 'https://www.shop.co.uk/', 'a=1; Domain=shop.co.uk', '.shop.co.uk'],
  ['with the prefix of a host', site, '__Host-a=1; Secure; Path=/', 'shop.example'],
  ['for secure connections to this machine', 'http://127.0.0.1/', 'a=1; Secure; SameSite=None', '127.0.0.1'],
])('a cookie %s is kept', (_, href, line, domain) => {
  expect(after(href, line)).toMatchObject([{ value: '1', domain }])
})

test('an open connection does not replace a cookie of secure ones', () => {
  const jar = new CookieJar([cookie('token', 'good', { secure: true, domain: '.shop.example' })])
  jar.receive('http://www.shop.example/', set('token=evil', 'other=1'))
  expect(jar.headerFor('https://www.shop.example/')).toBe('token=good; other=1')
  jar.receive(site, set('token=new'))
  expect(jar.headerFor(site)).toBe('token=good; token=new')
})

test('no cookie expires later than browsers allow', () => {
  const [one, other] = after(site, 'a=1; Max-Age=99999999999', 'b=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT')
  const most = Date.now() / 1000 + 400 * 86_400
  for (const { expires } of [one!, other!]) expect(Math.abs(expires - most)).toBeLessThan(60)
  expect(new CookieJar([cookie('a', '1', { expires: 1e12 })]).all()[0]!.expires).toBeLessThanOrEqual(most + 60)
})

test('text that a site sends as UTF-8 is sent back as it was', () => {
  const jar = new CookieJar()
  jar.receive(site, set(Buffer.from('a=größe', 'utf8').toString('latin1')))
  expect(jar.headerFor(site)).toBe('a=größe')
})

test('cookies of the caller are added once', () => {
  const jar = new CookieJar([cookie('a', 'saved')])
  jar.add([cookie('a', 'given'), cookie('b', 'given')])
  jar.receive(site, set('a=rotated', 'b=; Max-Age=0'))
  jar.add([cookie('a', 'given'), cookie('b', 'given')])
  expect(jar.headerFor(site)).toBe('a=rotated')
})

describe('the changes of a read', () => {
  const saved = [cookie('token', 'old'), cookie('theme', 'dark')]
  const changed = (change: (jar: CookieJar) => void, meanwhile = saved, given: JarCookie[] = []) => {
    const jar = new CookieJar(saved)
    jar.add(given)
    change(jar)
    return withChanges(meanwhile, jar.takeChanges()).map(({ name, value }) => `${name}=${value}`)
  }

  test.each<[string, (jar: CookieJar) => void, string[]]>([
    ['a new value', (jar) => jar.receive(site, set('token=new')), ['theme=dark', 'token=new']],
    ['a new cookie', (jar) => jar.receive(site, set('b=1')), ['token=old', 'theme=dark', 'b=1']],
    ['a deleted cookie', (jar) => jar.receive(site, set('token=x; Max-Age=0')), ['theme=dark']],
    ['one that came and went', (jar) => jar.receive(site, set('b=1', 'b=; Max-Age=0')), ['token=old', 'theme=dark']],
    [
      'a cookie of a script',
      (jar) => jar.merge(saved, [cookie('token', 'new'), saved[1]!]),
      ['theme=dark', 'token=new'],
    ],
    ['one that a script deleted', (jar) => jar.merge(saved, [saved[1]!]), ['theme=dark']],
  ])('%s', (_, change, cookies) => {
    expect(changed(change)).toEqual(cookies)
  })

  test('are none for cookies that are set again as they were', () => {
    const jar = new CookieJar(saved)
    jar.receive(site, set('token=old', 'unknown=; Max-Age=0'))
    expect(jar.takeChanges().size).toBe(0)
  })

  test('leave alone what others have saved meanwhile', () => {
    const meanwhile = [cookie('token', 'newer'), cookie('lang', 'de')]
    expect(changed((jar) => jar.receive(site, set('b=1')), meanwhile)).toEqual(['token=newer', 'lang=de', 'b=1'])
    expect(changed((jar) => jar.receive(site, set('token=old; Max-Age=900')), meanwhile)).toContain('token=newer')
    expect(changed((jar) => jar.receive(site, set('token=; Max-Age=0')), meanwhile)).toContain('token=newer')
  })

  test('have cookies of the caller only if the site changed them', () => {
    const given = [cookie('token', 'given'), cookie('mine', 'given')]
    expect(changed((jar) => jar.receive(site, set('mine=given')), saved, given)).toEqual(['token=old', 'theme=dark'])
    expect(changed((jar) => jar.receive(site, set('mine=site')), saved, given)).toContain('mine=site')
  })

  test('are kept until they are saved', () => {
    const jar = new CookieJar(saved)
    jar.receive(site, set('token=1'))
    const taken = jar.takeChanges()
    jar.receive(site, set('b=1'))
    jar.returnChanges(taken)
    expect([...jar.takeChanges().values()].map(({ cookie: one }) => one!.value)).toEqual(['1', '1'])
  })

  test('of a page do not undo those of another one', () => {
    const jar = new CookieJar(saved)
    jar.receive(site, set('token=new'))
    jar.merge(saved, [saved[1]!])
    expect(jar.headerFor(site)).toContain('token=new')
  })
})
