import { applyPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffHunks, gitDiff, unifiedText } from '../../../src/engine/changes/line-diff.ts'

const unifiedDiff = (before: string, after: string) => unifiedText(diffHunks(before, after))

test('shows changed lines with their context', () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at}`)
  const after = before.with(9, 'changed').toSpliced(18, 1)
  expect(unifiedDiff(before.join('\n'), after.join('\n'))).toBe(
    [
      '@@ -7,7 +7,7 @@',
      ' line 6',
      ' line 7',
      ' line 8',
      '-line 9',
      '+changed',
      ' line 10',
      ' line 11',
      ' line 12',
      '@@ -16,5 +16,4 @@',
      ' line 15',
      ' line 16',
      ' line 17',
      '-line 18',
      ' line 19',
    ].join('\n'),
  )
  expect(unifiedDiff('same\n', 'same\n')).toBe('')
  expect(unifiedDiff('same\n', 'same')).toBe('')
})

test('numbers the lines of both texts, in the format of Firecrawl', () => {
  expect(gitDiff(diffHunks('a\nb\nc', 'a\nB\nc'))).toEqual({
    text: '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c',
    json: {
      files: [
        {
          from: null,
          to: null,
          chunks: [
            {
              content: '@@ -1,3 +1,3 @@',
              changes: [
                { type: 'normal', normal: true, ln1: 1, ln2: 1, content: ' a' },
                { type: 'del', del: true, ln: 2, content: '-b' },
                { type: 'add', add: true, ln: 2, content: '+B' },
                { type: 'normal', normal: true, ln1: 3, ln2: 3, content: ' c' },
              ],
            },
          ],
        },
      ],
    },
  })
})

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''))

test('leads from one text to the other', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = unifiedDiff(before, after)
      expect(diff === '' ? before : applyPatch(before, `--- a\n+++ b\n${diff}\n`)).toBe(after)
    }),
  )
})

test('replaces long texts without common lines as a whole', () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join('\n')
  const [hunk, ...others] = diffHunks(lines('old'), lines('new'))
  expect(others).toEqual([])
  expect(hunk).toMatchObject({ oldLines: 20_000, newLines: 20_000 })
  expect(hunk!.lines).toHaveLength(40_000)
  expect([hunk!.lines[0], hunk!.lines.at(-1)]).toEqual(['-old 0', '+new 19999'])
})
