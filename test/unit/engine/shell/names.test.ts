import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesOf } from '../../../../src/engine/shell/exec/characters.ts'
import { resolvePath } from '../../../../src/engine/shell/files/paths.ts'
import { globMatcher, lineMatcher } from '../../../../src/engine/shell/files/search.ts'
import { percentDecoded, percentEncoded, shownName } from '../../../../src/engine/name-bytes.ts'

describe('names', () => {
  test('round-trip any bytes through a URL', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const encoded = percentEncoded(bytes)
        expect(encoded).toMatch(/^[\w.~%-]*$/)
        expect(percentDecoded(encoded)).toEqual(Buffer.from(bytes))
      }),
    )
    expect(percentDecoded('a%2')).toBeUndefined()
    expect(percentDecoded('ü%zz')).toBeUndefined()
  })

  test('include their bytes if they are not UTF-8', () => {
    expect(shownName(Buffer.from('grün'))).toEqual({ name: 'grün' })
    expect(shownName(Buffer.from([0x61, 0xff]))).toEqual({ name: 'a\ufffd', name_b64: 'Yf8=' })
  })

  test.each([
    [undefined, '/workspace'],
    ['a', '/workspace/a'],
    ['./a//b/', '/workspace/a/b'],
    ['/', '/'],
    ['/etc/', '/etc'],
    ['a/../b', '/workspace/a/../b'],
  ])('resolves the path %s to %s', (path, absolute) => {
    expect(resolvePath(path, undefined).shown.path).toBe(absolute)
  })

  test('text and base64 decode to exact bytes, or are rejected', () => {
    expect(bytesOf('ü😀', 'utf8', 'x')).toEqual(Buffer.from('ü😀'))
    expect(bytesOf('AP8=', 'base64', 'x')).toEqual(Buffer.from([0, 255]))
    for (const [text, encoding] of [
      ['\ud83d', 'utf8'],
      ['a\udc00', 'utf8'],
      ['AP8', 'base64'],
      ['AP 8=', 'base64'],
      ['=AAA', 'base64'],
    ] as const)
      expect(() => bytesOf(text, encoding, 'data'), text).toThrow('data is not')
  })
})

describe('globs', () => {
  test.each([
    ['**/*.py', ['a.py', 'x/y/a.py'], ['a.pyc', 'py']],
    ['*.txt', ['a.txt', 'grün.txt'], ['x/a.txt', 'a.txt.gz']],
    ['src/{a,b}/*.[jt]s', ['src/a/x.js', 'src/b/y.ts'], ['src/c/x.js', 'src/a/x.cs']],
    ['[!a]*', ['b', '!'], ['a', 'ab']],
    ['test?.md', ['test1.md', 'testé.md'], ['test.md', 'test10.md']],
    ['é*', ['é1'], ['e1']],
    ['a/**', ['a/b', 'a/b/c'], ['b/a']],
    ['line*', ['line\nbreak'], []],
    ['\\*', ['*'], ['a']],
  ])('%s', (pattern, yes, no) => {
    const matches = globMatcher(pattern)
    expect(yes.filter((path) => !matches(path))).toEqual([])
    expect(no.filter((path) => matches(path))).toEqual([])
  })

  test('queries find the first match in a line', () => {
    const find = (query: string, regex: boolean, caseSensitive: boolean, line: string) =>
      lineMatcher(query, { regex, caseSensitive })(line)
    expect(find('b.', false, true, 'abb.')).toEqual({ start: 2, end: 4 })
    expect(find('B.', false, false, 'abb.')).toEqual({ start: 2, end: 4 })
    expect(find('b+', true, true, 'abb.')).toEqual({ start: 1, end: 3 })
    expect(find('x', true, true, 'abb.')).toBeUndefined()
    expect(() => lineMatcher('(', { regex: true, caseSensitive: true })).toThrow('query is not a valid pattern')
  })
})
