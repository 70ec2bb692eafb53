import { expect, test } from 'vitest'
import { Mouse, splitMouse } from '../../../src/tui/mouse.ts'

test('mouse reports are separated from typed text', () => {
  expect(splitMouse('a\u001B[<0;3;2Mb\u001B[<0;3;2m\u001B[<64;1;1M')).toEqual({
    events: [
      { x: 2, y: 1, kind: 'press' },
      { x: 0, y: 0, kind: 'wheel-up' },
    ],
    text: 'ab',
    rest: '',
  })
})

test('an incomplete report waits for its end', () => {
  expect(splitMouse('x\u001B[<0;12')).toEqual({ events: [], text: 'x', rest: '\u001B[<0;12' })
  expect(splitMouse('\u001B[<0;12;3M')).toMatchObject({ events: [{ x: 11, y: 2 }], rest: '' })
  expect(splitMouse('\u001B')).toMatchObject({ text: '\u001B', rest: '' })
})

test('the last added target under the pointer receives the event, relative to its area', () => {
  const mouse = new Mouse()
  const calls: unknown[] = []
  const add = (name: string, x: number) =>
    mouse.add({ area: () => ({ x, y: 1, columns: 5, rows: 2 }), onMouse: ({ x, y }) => calls.push([name, x, y]) })
  add('low', 0)
  const remove = add('high', 3)
  for (const x of [1, 4, 9]) mouse.handle({ x, y: 2, kind: 'press' })
  remove()
  mouse.handle({ x: 4, y: 2, kind: 'press' })
  expect(calls).toEqual([
    ['low', 1, 1],
    ['high', 1, 1],
    ['low', 4, 1],
  ])
})
