import { expect, test } from 'vitest'
import { converted, parseSelector } from '../../../src/engine/browser/elements/selectors.ts'
import { convertSelector } from '../../../src/engine/browser/script-recorder/selectors.ts'

test.each([
  ['internal:role=button[name="Buy"i]', ['Buy'], 'role=button[name="Buy"]'],
  ['internal:role=button[name="Buy"i]', ['Buy', 'Buy later'], 'role=button[name*="Buy" i]'],
  ['internal:role=button[name="Buy"i]', [], 'role=button[name*="Buy" i]'],
  ['internal:role=button[name="Buy"s]', [], 'role=button[name="Buy"]'],
  ['internal:role=button[name="Buy"i] >> nth=1', ['Buy'], 'role=button[name="Buy"] >> nth=1'],
  ['internal:role=listitem', [], 'role=listitem'],
  [
    'internal:role=link[name="item"i][description="Browse"i]',
    ['item'],
    'role=link[name="item"][description*="Browse" i]',
  ],
  ['internal:role=link[description="Browse"s]', [], 'role=link[description="Browse"]'],
  [
    'internal:role=row[name="Tea"i] >> internal:role=button[name="Add"i]',
    ['Add'],
    'role=row[name*="Tea" i] >> role=button[name="Add"]',
  ],
  ['internal:role=button[name="a >> \\"b\\""i]', ['a >> "b"'], 'role=button[name="a >> \\"b\\""]'],
  ['internal:testid=[data-testid="card"s]', [], '[data-testid="card"]'],
  ['internal:attr=[placeholder="Search"i]', [], '[placeholder*="Search" i]'],
  ['internal:attr=[title="Search"s]', [], '[title="Search"]'],
  ['internal:text="Some text"i', [], 'text=Some text'],
  ['internal:text="\\"Some\\""i', [], ':text("\\"Some\\"")'],
  ['internal:text="2 >> 1 \\\\ \'"i >> nth=1', [], ':text("2 >> 1 \\\\ \'") >> nth=1'],
  ['internal:text="a\\nb\\""i', [], 'internal:text="a\\nb\\""i'],
  ['internal:text="Some"s', [], 'internal:text="Some"s'],
  ['internal:label="Email"i', [], 'label=Email'],
  ['internal:label="Email"s', [], 'label="Email"'],
  ['#a > b >> internal:has-text="x \\"y\\""i', [], '#a > b:has-text("x \\"y\\"")'],
  ['a, b >> internal:has-text="x"i', [], 'a, b >> internal:has-text="x"i'],
  ['internal:role=row >> internal:has-text="x"i', [], 'role=row >> internal:has-text="x"i'],
  ['p >> internal:has-text=/^x$/', [], 'p >> internal:has-text=/^x$/'],
  ['iframe[name="x"] >> internal:control=enter-frame >> internal:role=link', [], 'frame=iframe[name="x"] >> role=link'],
  ['#a >> internal:control=enter-frame >> #b >> internal:control=enter-frame >> #c', [], 'frame=#a >> frame=#b >> #c'],
  [
    'iframe >> nth=1 >> internal:control=enter-frame >> internal:role=link',
    [],
    'frame=:nth-match(iframe, 2) >> role=link',
  ],
  ['internal:text="Ad"i >> internal:control=enter-frame >> #a', [], 'frame=text=Ad >> #a'],
])('%s becomes a documented selector', (recorded, names, expected) => {
  expect(convertSelector(recorded, { names })).toBe(expected)
})

test('label= finds fields like getByLabel', () => {
  const own = (selector: string) => converted(selector).replaceAll(/ >> internal:or="(?:\\.|[^"\\])*"/g, '')
  expect(own('label=Email')).toBe('internal:label="Email"i')
  const { inner } = parseSelector('frame=#pay >> form >> label="Card \\"no\\"" >> nth=0')
  expect(own(inner)).toBe('form >> internal:label="Card \\"no\\""s >> nth=0')
  expect(converted('[aria-label=x]')).toBe('[aria-label=x]')
})

test('a whole name is recorded without the icons around', () => {
  const recorded = (name: string) => convertSelector(`internal:role=button[name="${name}"i]`, { names: [name] })
  expect(recorded('\uE900 Compose')).toBe('role=button[name="Compose"]')
  expect(recorded('\uE900')).toBe('role=button[name="\uE900"]')
})

test('a name in role= allows the icons of fonts around its words', () => {
  const allows = (selector: string, name: string) => {
    const [, pattern, flags] = /^role=\w+\[name=\/(.*)\/(i?)\] >> internal:or=/s.exec(converted(selector))!
    return new RegExp(pattern!, flags).test(name)
  }
  expect(allows('role=button[name="Buy now (1/2)"]', '\uE900 Buy \uE901now (1/2)')).toBe(true)
  expect(allows("role=button[name='Buy']", 'Buyer')).toBe(false)
  expect(allows('role=button[name="buy" i]', '\uF001Buy')).toBe(true)
  for (const kept of ['role=button[name*="Buy"]', 'role=button', 'role=button[name=/Buy/]'])
    expect(converted(kept)).toBe(kept)
})
