/** The table of `scripts/mutate.js` has to follow the code that it mutates. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { mutations } from '../../scripts/mutate/table.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('every mutation has a name of its own', () => {
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length)
})

test.each(mutations)('the text that $name replaces occurs once', ({ file, text, replacement }) => {
  expect(readFileSync(join(root, file), 'utf8').split(text)).toHaveLength(2)
  expect(replacement).not.toBe(text)
})

test.each(mutations)('the tests that have to notice $name exist', ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0)
  expect(tests.filter((test) => !existsSync(join(root, test.replace(/^fleet:/, ''))))).toEqual([])
})
