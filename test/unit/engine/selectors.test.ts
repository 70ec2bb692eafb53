import { describe, expect, test } from 'vitest'
import { parseSelector, selectorFault } from '../../../src/engine/browser/elements/selectors.ts'

describe('parseSelector', () => {
  test.each([
    ['#buy', { frames: [], inner: '#buy', ref: null }],
    ['text=frame=x', { frames: [], inner: 'text=frame=x', ref: null }],
    ['main >> text="a >> b"', { frames: [], inner: 'main >> text="a >> b"', ref: null }],
    ['frame=#pay >> button', { frames: ['#pay'], inner: 'button', ref: null }],
    [
      'frame=#a >> frame=iframe[name="x >> y"] >> role=link',
      { frames: ['#a', 'iframe[name="x >> y"]'], inner: 'role=link', ref: null },
    ],
    ['frame=#pay', { frames: ['#pay'], inner: ':root', ref: null }],
    ['ref=e12', { frames: [], inner: 'ref=e12', ref: 'e12' }],
    ['ref=f2e7 >> span', { frames: [], inner: 'ref=f2e7 >> span', ref: 'f2e7' }],
  ])('parses %s', (selector, parsed) => {
    expect(parseSelector(selector)).toEqual(parsed)
  })

  test.each(['', '   ', 'ref=', 'ref=button', 'frame= >> a'])('rejects %j', (selector) => {
    expect(() => parseSelector(selector)).toThrow(expect.objectContaining({ code: 'invalid_selector' }))
  })
})

test('recognizes errors about invalid selectors', () => {
  const complaint = new Error('locator.click: Unexpected token "" while parsing css selector "[["')
  expect(selectorFault(complaint, '[[')).toMatchObject({
    code: 'invalid_selector',
    message: '"[[" is not a selector: Unexpected token "" while parsing css selector "[["',
  })
  expect(selectorFault(new Error('locator.click: Timeout 300ms exceeded.'), 'a')).toBeUndefined()
})
