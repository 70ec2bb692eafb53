import { describe, expect, test } from 'vitest'
import { unwrapped } from '../../../../src/engine/search/query-providers.ts'

const base = 'https://search.example/page'
const page = 'https://example.com/a?b=1&c=d#e'
const bing = (text: string) => `https://www.bing.com/ck/a?!&&p=1&u=a1${Buffer.from(text).toString('base64url')}&ntb=1`

describe('URLs of results', () => {
  test.each([
    ['DuckDuckGo', `//duckduckgo.com/l/?uddg=${encodeURIComponent(page)}&rut=b5`],
    ['DuckDuckGo, with its scheme', `https://html.duckduckgo.com/l/?kh=-1&uddg=${encodeURIComponent(page)}`],
    ['Bing', bing(page)],
    ['Bing of a country', bing(page).replace('www.', 'cn.')],
    ['Google', `https://www.google.com/url?sa=t&q=${encodeURIComponent(page)}&ved=2`],
    ['Google of a country', `https://www.google.co.uk/url?url=${encodeURIComponent(page)}`],
    ['two at once', `https://duckduckgo.com/l/?uddg=${encodeURIComponent(bing(page))}`],
    ['none', page],
  ])('come out of what is around them: %s', (_, address) => {
    expect(unwrapped(address, base)).toBe(page)
  })

  test.each([
    'https://example.com/l/?uddg=https%3A%2F%2Fother.example%2F',
    'https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fother.example%2F',
    'https://duckduckgo.com/about',
    'https://www.google.com/maps?q=https://other.example/',
    'https://www.google.com/url?q=%2Fsearch',
    'https://google.evil.example/url?q=https%3A%2F%2Fother.example%2F',
    'https://www.bing.com/ck/a?u=b1aHR0cHM6Ly9leGFtcGxlLmNvbS8',
    bing('javascript:alert(1)'),
    bing('not an address'),
  ])('that only look wrapped, or hold no page, stay as they are: %s', (address) => {
    expect(unwrapped(address, base)).toBe(new URL(address).href)
  })

  test.each([
    'https://duckduckgo.com/y.js?ad_domain=x&u3=https%3A%2F%2Fshop.example',
    'https://www.bing.com/aclick?ld=e8&u=x',
    'https://www.google.com/aclk?sa=l&adurl=https://shop.example',
    `//duckduckgo.com/l/?uddg=${encodeURIComponent('https://www.bing.com/aclick?ld=e8')}`,
    'javascript:alert(1)',
    'ftp://example.com/file',
    'http://',
  ])('that somebody pays for, or that are no pages of the web, are none: %s', (address) => {
    expect(unwrapped(address, base)).toBeUndefined()
  })

  test('with too many wrappers are undefined', () => {
    let address = page
    for (let depth = 0; depth < 5; depth++) address = `https://duckduckgo.com/l/?uddg=${encodeURIComponent(address)}`
    expect(unwrapped(address, base)).toBeUndefined()
  })
})
