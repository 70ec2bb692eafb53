import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { hashOf, pathOf, Names } from '../../../../src/cli/crawl/mirror/page-path.ts'

const long = 'x'.repeat(3000)

describe('pathOf', () => {
  test.each([
    ['https://x.test/', 'x.test/index'],
    ['https://x.test', 'x.test/index'],
    ['http://127.0.0.1:8080/a/b', '127.0.0.1-8080/a/b'],
    ['https://x.test/guide/', 'x.test/guide/index'],
    ['https://x.test/guide/index.html', 'x.test/guide/index'],
    ['https://x.test/library/os.path.html', 'x.test/library/os.path'],
    ['https://x.test/readme.md', 'x.test/readme'],
    ['https://x.test/data.json', 'x.test/data.json_'],
    ['https://x.test/list?page=2&sort=a%20b', 'x.test/list@page=2-sort=a-b'],
    ['https://x.test/?q=1', 'x.test/index@q=1'],
    ['https://x.test/app#/users/1', 'x.test/app@users-1'],
    ['https://x.test/app#!users', 'x.test/app@users'],
    ['https://x.test/a//b', 'x.test/a/b'],
    ['https://x.test/%E6%97%A5%E6%9C%AC/Gr%C3%BC%C3%9Fe', 'x.test/日本/Grüße'],
    ['https://x.test/bad%escape', 'x.test/bad-escape'],
  ])('maps %s', (address, path) => {
    expect(pathOf(address)).toBe(path)
  })

  test.each([
    ['climbs', 'https://x.test/..%2f..%2fetc%2fpasswd', 'x.test/_etc-passwd'],
    ['climbs by another slash', 'https://x.test/..%5c..%5cboot.ini', 'x.test/_boot.ini'],
    ['hides', 'https://x.test/.git/.config', 'x.test/_git/_config'],
    ['looks like a flag', 'https://x.test/-rf/--help', 'x.test/_rf/_help'],
    ['is a device', 'https://x.test/CON/nul.txt', 'x.test/_CON/_nul.txt'],
    ['ends in dots', 'https://x.test/a.../b', 'x.test/a_/b'],
    ['has control characters', 'https://x.test/a%00b%0ac%1b%5b2J', 'x.test/a-b-c-2J'],
    ['turns its direction', 'https://x.test/%E2%80%AEgnp.exe', 'x.test/_gnp.exe'],
    ['names a stream', 'https://x.test/a:b|c*d%3Fe', 'x.test/a-b-c-d-e'],
    ['is a folder like a file', 'https://x.test/a.md/b', 'x.test/a.md_/b'],
    ['is a page like a format', 'https://x.test/a.links', 'x.test/a.links_'],
  ])('replaces a name that %s', (_, address, path) => {
    expect(pathOf(address)).toBe(path)
  })

  test('cuts long names and keeps them unique', () => {
    const [one, two] = [pathOf(`https://x.test/${long}/1`), pathOf(`https://x.test/${long}2/1`)]
    expect(one).toMatch(/^x\.test\/x+-[0-9a-f]{8}\/1$/)
    expect(one).not.toBe(two)
    const [deep, deeper] = ['/a'.repeat(900), '/a'.repeat(901)].map((path) => pathOf(`https://x.test${path}`))
    expect(deep).not.toBe(deeper)
    expect(pathOf(`https://x.test/?q=${long}`).length).toBeLessThan(150)
  })

  test('returns valid file names for any URL', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 300 }).map(encodeURIComponent),
      fc.constantFrom('..', '.', '%2e%2e', '%2f', '%5c', 'aux', 'COM1.txt', ' ', '%00', '%ff', '~', 'a.html', '.md'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.option(piece), (pieces, query) => {
        const path = pathOf(`https://x.test/${pieces.join('/')}${query === null ? '' : `?${query}`}`)
        expect(Buffer.byteLength(path)).toBeLessThanOrEqual(200)
        for (const name of path.split('/')) {
          expect(name).toMatch(/^[\p{L}\p{M}\p{N}._~+@=,-]+$/u)
          expect(name).not.toMatch(/^[.-]|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i)
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(125)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('Names', () => {
  const named = (addresses: readonly string[]) => {
    const names = new Names()
    const first = addresses.map((address) => names.take(address))
    return { first, final: addresses.map((address) => names.final(address)) }
  }

  test('assigns separate files to pages that differ in case only, in any order', () => {
    const [upper, lower, other] = ['https://x.test/Read', 'https://x.test/read', 'https://x.test/write']
    const forth = named([upper, lower, other])
    const back = named([other, lower, upper])
    expect(forth.first).toEqual(['x.test/Read', `x.test/read-${hashOf(lower)}`, 'x.test/write'])
    expect(forth.final).toEqual([`x.test/Read-${hashOf(upper)}`, `x.test/read-${hashOf(lower)}`, 'x.test/write'])
    expect(back.final.toReversed()).toEqual(forth.final)
  })

  test('assigns one name to a page that arrives several times', () => {
    const names = new Names()
    expect([names.take('https://x.test/a'), names.take('https://x.test/a')]).toEqual(['x.test/a', 'x.test/a'])
    expect(names.final('https://x.test/a')).toBe('x.test/a')
  })

  test('separates a page whose name equals another one with its hash', () => {
    const [a, b] = ['https://x.test/p.html', 'https://x.test/p.htm']
    const { final } = named([`https://x.test/p-${hashOf(b)}`, a, b])
    expect(new Set(final.map((path) => path.toLowerCase())).size).toBe(3)
  })
})
