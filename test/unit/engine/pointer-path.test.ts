import { assert, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { pointerPath } from '../../../src/engine/browser/input/pointer.ts'

const place = record({ x: integer({ min: 0, max: 4000 }), y: integer({ min: 0, max: 4000 }) })

test('has the requested number of points, ends at its target and stays close to the line', () => {
  assert(
    property(place, place, integer({ min: 1, max: 300 }), integer(), (from, to, steps, seed) => {
      const points = pointerPath(from, to, steps, seed)
      const length = Math.hypot(to.x - from.x, to.y - from.y)
      expect(points).toHaveLength(steps)
      expect(points.at(-1)).toEqual(to)
      for (const { x, y } of points) {
        const [ahead, behind] = [Math.hypot(x - to.x, y - to.y), Math.hypot(x - from.x, y - from.y)]
        expect(ahead + behind).toBeLessThanOrEqual(length * 1.15 + 4)
      }
    }),
  )
})

const path = (seed: number) => pointerPath({ x: 0, y: 0 }, { x: 500, y: 300 }, 40, seed)

test('depends only on the seed', () => {
  expect(path(1)).toEqual(path(1))
  expect(path(1)).not.toEqual(path(2))
})

test('is slow at both ends and fast in between', () => {
  const points = [{ x: 0, y: 0 }, ...pointerPath({ x: 0, y: 0 }, { x: 1000, y: 0 }, 50, 7)]
  const strides = points.slice(1).map(({ x, y }, at) => Math.hypot(x - points[at]!.x, y - points[at]!.y))
  const sum = (from: number, to: number) => strides.slice(from, to).reduce((all, one) => all + one, 0)
  expect(sum(0, 10)).toBeLessThan(sum(20, 30) / 2)
  expect(sum(40, 50)).toBeLessThan(sum(20, 30) / 2)
})
