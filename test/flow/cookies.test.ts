import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': '<!doctype html><title>Cookies</title><iframe id=inner src=/inner></iframe>',
  '/inner': '<!doctype html><p id=p>inner</p>',
  '/sub/page': '<!doctype html><p>sub</p>',
  '/sets': (_: unknown, response: import('node:http').ServerResponse) => {
    response.setHeader('set-cookie', ['sid=1; HttpOnly; SameSite=Strict', 'seen=yes; Max-Age=600']).end('ok')
  },
}

interface Cookie {
  name: string
  value: string
  domain: string
  expires: number | null
}

inUsualHomes(pages, (given) => {
  const cookies = async () => (await given.value('get_cookies')) as Cookie[]
  const empty = async () => {
    for (const { name, domain } of await cookies()) await given.do('delete_cookie', { name, domain })
    expect(await cookies()).toEqual([])
  }

  test('get_cookies lists the cookies of all sites, including HttpOnly ones', async () => {
    await empty()
    await given.open('/sets')
    expect(await cookies()).toMatchObject([
      { name: 'sid', value: '1', domain: '127.0.0.1', path: '/', http_only: true, same_site: 'Strict', expires: null },
      { name: 'seen', value: 'yes', http_only: false, secure: false, expires: expect.any(Number) },
    ])
  })

  test('set_cookie sets a cookie with all its fields', async () => {
    await empty()
    await given.open('/')
    await given.do('set_cookie', { name: 'plain', value: 'a b' })
    await given.do('set_cookie', {
      name: 'full',
      value: 'x',
      domain: '127.0.0.1',
      path: '/sub',
      secure: false,
      http_only: true,
      same_site: 'lax',
    })
    const both = (await cookies()).toSorted((a, b) => b.name.localeCompare(a.name))
    expect(both).toMatchObject([
      { name: 'plain', value: 'a b', domain: '127.0.0.1', path: '/' },
      { name: 'full', path: '/sub', http_only: true, same_site: 'Lax' },
    ])
    expect(await given.evaluate('document.cookie')).toBe('plain=a b')
    const inside = { selector: 'frame=#inner >> #p', expression: 'this.ownerDocument.cookie' }
    expect(await given.value('evaluate_on_element', inside)).toBe('plain=a b')
  })

  test('set_cookies sets the cookies of a Cookie header', async () => {
    await empty()
    await given.open('/')
    expect(await given.do('set_cookies', { cookies: 'a=1; b=two=2; c=' })).toEqual({ set: 3 })
    expect((await cookies()).map(({ name, value }) => [name, value])).toEqual([
      ['a', '1'],
      ['b', 'two=2'],
      ['c', ''],
    ])
    expect(await given.do('set_cookies', { cookies: 'd=4', domain: '.example.com', path: '/x', secure: true })).toEqual(
      { set: 1 },
    )
    expect(await cookies()).toContainEqual(
      expect.objectContaining({ name: 'd', domain: '.example.com', path: '/x', secure: true }),
    )
  })

  test('delete_cookie deletes by name and domain, and returns the number', async () => {
    await empty()
    await given.open('/')
    await given.do('set_cookies', { cookies: 'a=1; b=2' })
    await given.do('set_cookie', { name: 'a', value: '3', domain: '.example.com' })
    expect(await given.do('delete_cookie', { name: 'a', domain: 'example.com' })).toEqual({ deleted: 1 })
    expect(await given.do('delete_cookie', { name: 'a', domain: 'other.example' })).toEqual({ deleted: 0 })
    expect((await cookies()).map(({ name, domain }) => `${name}@${domain}`)).toEqual(['a@127.0.0.1', 'b@127.0.0.1'])
  })

  test('clear_cookies deletes all, and returns the number', async () => {
    await empty()
    await given.open('/')
    await given.do('set_cookies', { cookies: 'a=1; b=2' })
    await given.do('set_cookie', { name: 'a', value: '3', domain: '.example.com' })
    expect(await given.do('clear_cookies')).toEqual({ deleted: 3 })
    expect(await cookies()).toEqual([])
    expect(await given.do('clear_cookies')).toEqual({ deleted: 0 })
  })

  test('set_cookie without a domain requires a page that has one', async () => {
    await given.do('navigate_to', { url: 'about:blank' })
    const { code, error } = await given.fails('set_cookie', { name: 'a', value: '1' })
    expect({ code, error }).toEqual({ code: 'invalid_data', error: 'a cookie needs a domain: about:blank has none' })
  })

  test('an invalid cookie fails its command', async () => {
    await given.open('/')
    const { code, error } = await given.fails('set_cookie', { name: '__Host-a', value: '1', secure: false })
    expect({ code, error }).toEqual({ code: 'invalid_data', error: 'the browser rejects the cookie: __Host-a' })
  })
})
