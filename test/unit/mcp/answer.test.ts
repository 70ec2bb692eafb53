import { expect, test } from 'vitest'
import { hintOf } from '../../../src/mcp/answer.ts'

test.each([
  ['open the page again, without "ses_QkK-l80Lba6-xy"', 'open the page again, without "ses_QkK-l80Lba6-xy"'],
  ['set "limit" (--limit) to a lower number', 'set "limit" to a lower number'],
  ['choose a pop-up or a check-box', 'choose a pop-up or a check-box'],
])('the hint %j is kept without flags of fields', (hint, kept) => {
  expect(hintOf(hint)).toEqual([`hint: ${kept}`])
})

test.each(['run "bax session list"', 'use --force', 'add -k to accept it', undefined])(
  'agents, which have no terminal, get no hint of it: %j',
  (hint) => {
    expect(hintOf(hint)).toEqual([])
  },
)
