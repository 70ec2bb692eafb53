import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { cutLines, cutText, type Line, renderLines } from '../../../../src/engine/browser/observe/snapshot/lines.ts'

const none = new Map<string, string>()
const line = (head: string, depth = 0, rank = 0): Line => ({ head, depth, rank, counts: 'texts' })

describe('cutting by relevance', () => {
  const lines = [
    line('main', 0, 9),
    line('heading', 1, 0),
    line('far', 1, 5),
    line('navigation', 0, 9),
    line('near', 1, 1),
  ]

  test('does not cut lines that fit', () => {
    expect(cutLines(lines, none, 1000)).toEqual({
      text: '- main:\n  - heading\n  - far\n- navigation:\n  - near',
      omitted: {},
    })
  })

  test('keeps the most relevant lines with their parents, and counts the rest', () => {
    const filler = Array.from({ length: 50 }, (_, at) => line(`filler ${at}`, 1, 100 + at))
    expect(cutLines([...lines, ...filler], none, 260)).toEqual({
      text: [
        '- main:',
        '  - heading',
        '  - far',
        '- navigation:',
        '  - near',
        '# 50 texts omitted; use max_chars or selector',
      ].join('\n'),
      omitted: { texts: 50 },
    })
  })

  test('never exceeds the length, cuts a line, or drops a parent', () => {
    const tree = fc.array(fc.record({ head: fc.stringMatching(/^[a-z]{1,30}$/), up: fc.nat(3), rank: fc.nat(100) }), {
      minLength: 30,
      maxLength: 200,
    })
    fc.assert(
      fc.property(tree, fc.integer({ min: 200, max: 2000 }), (made, room) => {
        let depth = 0
        const all = made.map(({ head, up, rank }, at) => {
          depth = at === 0 ? 0 : Math.max(0, depth + 1 - up)
          return line(head, depth, rank)
        })
        const { text, omitted } = cutLines(all, none, room)
        expect(text.length).toBeLessThanOrEqual(room)
        const shown = text.split('\n').slice(0, omitted.texts ? -1 : undefined)
        expect(shown.length + (omitted.texts ?? 0)).toBe(all.length)
        const heads = new Set(all.map(({ head }) => head))
        let above = -1
        for (const each of shown) {
          const [, indent, head] = /^( *)- ([a-z]+):?$/.exec(each)!
          expect(heads.has(head!)).toBe(true)
          expect(indent!.length / 2).toBeLessThanOrEqual(above + 1)
          above = indent!.length / 2
        }
      }),
    )
  })
})

test('cuts text at the end of a line', () => {
  const text = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n')
  const cut = cutText(text, 300)
  expect(cut.omittedChars).toBe(text.length - cut.text.lastIndexOf('\n'))
  expect(cut.text).toMatch(
    /^line 0\n[\s\S]*\nline \d+\n# \d+ of 789 characters left out; selector or max_chars shows more$/,
  )
  expect(text.startsWith(cut.text.slice(0, cut.text.lastIndexOf('\n')))).toBe(true)
  expect(cutText('short', 300)).toEqual({ text: 'short', omittedChars: 0 })
  expect(cutText('x'.repeat(1000), 300).text).toBe(
    '# 1000 of 1000 characters left out; selector or max_chars shows more',
  )
})

test('renders any names and values as valid YAML', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 1 }), (name, value) => {
      const clean = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
      const [label, tail] = [clean(name), clean(value)]
      fc.pre(tail !== '')
      const text = renderLines(
        [{ head: `button ${JSON.stringify(label)}`, ref: 'x', tail, depth: 0, rank: 0 }],
        new Map([['x', 'e1']]),
      ).join('\n')
      expect(parse(text)).toEqual([{ [`button ${JSON.stringify(label)} [ref=e1]`]: tail }])
    }),
    { numRuns: 500 },
  )
})
