import { expect, test } from 'vitest'
import { targetOf } from '../../../../src/engine/browser/journal/describe-target.ts'

const ann = {
  fingerprint: { tag: 'button', name: 'Ann' },
  accessibleName: 'Ann',
  secret: false,
  isLink: false,
} as never
const selectorOf = (generated: string, accessibleName = 'Ann') =>
  targetOf({ ...(ann as Parameters<typeof targetOf>[0]), accessibleName, generated }).selector

test('a selector has the whole name of the element', () => {
  expect(selectorOf('internal:role=button[name="Ann"i]')).toBe('role=button[name="Ann"]')
  expect(selectorOf('internal:role=button[name="Ann"i]', '\uE001 Ann')).toBe('role=button[name="Ann"]')
})

test('a part of the name remains where the whole name is not that of the selector', () => {
  expect(selectorOf('internal:role=button[name="Ann"i]', 'Ann Lee')).toBe('role=button[name*="Ann" i]')
  for (const end of ['button', 'nth=1', 'internal:role=button'])
    expect(selectorOf(`internal:role=row[name="Ann"i] >> ${end}`)).toContain('role=row[name*="Ann" i] >> ')
})
