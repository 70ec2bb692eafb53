import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { align } from '../../../../src/engine/browser/observe/align.ts'
import { aroundChange, compare, type Unit } from '../../../../src/engine/browser/observe/compare.ts'

const text = (content: string, more: Partial<Unit> = {}): Unit => ({
  ref: null,
  role: 'text',
  name: '',
  text: content,
  isControl: false,
  states: new Set(),
  head: 'text',
  where: '',
  path: '',
  ...more,
})
const control = (ref: string, name: string, more: Partial<Unit> = {}): Unit =>
  text(name, { ref, name, role: 'button', isControl: true, ...more })
const difference = (before: Unit[], after: Unit[]) =>
  compare({ units: before, notices: [] }, { units: after, notices: [] })

describe('alignment', () => {
  test('pairs only equal items, once and in order', () => {
    const list = fc.array(fc.constantFrom(...'abcdefgh'), { maxLength: 40 })
    fc.assert(
      fc.property(list, list, (before, after) => {
        const pairs = align(before, after)
        for (const [at, [a, b]] of pairs.entries()) {
          expect(before[a]).toBe(after[b])
          if (at > 0) expect(a > pairs[at - 1]![0] && b > pairs[at - 1]![1]).toBe(true)
        }
      }),
    )
  })

  test('finds one change among thousands', () => {
    const before = Array.from({ length: 5000 }, (_, at) => `line ${at % 700}`)
    const after = before.with(2500, 'new')
    expect(align(before, after)).toHaveLength(4999)
  })
})

describe('comparison', () => {
  test('pairs a text with its replacement', () => {
    const { replaced, added, removed } = difference(
      [text('Basket'), text('0 items'), text('Footer')],
      [text('Basket'), text('1 item'), text('New'), text('Footer')],
    )
    expect(replaced.map(([old, unit]) => [old.text, unit.text])).toEqual([['0 items', '1 item']])
    expect(added.map((unit) => unit.text)).toEqual(['New'])
    expect(removed).toEqual([])
  })

  test('matches a control by its reference despite changed name, value and states', () => {
    const { replaced, values, states, added } = difference(
      [control('e1', 'Follow'), control('e2', 'Name', { value: '' }), control('e3', 'Gift')],
      [
        control('e2', 'Name', { value: 'Ann' }),
        control('e3', 'Gift', { states: new Set(['checked']) }),
        control('e1', 'Unfollow'),
      ],
    )
    expect(replaced.map(([old, unit]) => [old.text, unit.text])).toEqual([['Follow', 'Unfollow']])
    expect(values.map(([old, unit]) => [old.value, unit.value])).toEqual([['', 'Ann']])
    expect(states).toMatchObject([{ state: 'checked', on: true }])
    expect(added).toEqual([])
  })

  test('shortens a long text to its change', () => {
    const words = Array.from({ length: 100 }, (_, at) => `word${at}`)
    const [old, now] = aroundChange(words.join(' '), words.with(50, 'other').join(' '))
    expect(old).toMatch(/^….*word50.*…$/)
    expect(now).toMatch(/^….*other.*…$/)
    expect(old.length + now.length).toBeLessThan(160)
    expect(aroundChange('1 item', '2 items')).toEqual(['1 item', '2 items'])
  })
})
