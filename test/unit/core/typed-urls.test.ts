import { expect, test } from 'vitest'
import { isUrl, normaliseUrl } from '../../../src/core/net/urls.ts'

test.each([
  ['example.com', 'https://example.com/'],
  [' example.com:80/a ', 'https://example.com:80/a'],
  ['localhost:3000', 'http://localhost:3000/'],
  ['intranet', 'https://intranet/'],
  ['HTTP://Example.com.', 'http://example.com./'],
  ['bücher.example', 'https://xn--bcher-kva.example/'],
  ['a_b.example', 'https://a_b.example/'],
  ['[::1]:8080', 'http://[::1]:8080/'],
  ['//example.com', 'https://example.com/'],
  ['https://ada:pw@example.com', 'https://ada:pw@example.com/'],
  ['https://example.com//http://x', 'https://example.com//http://x'],
  ['data:text/html,x', 'data:text/html,x'],
  ['ws://127.0.0.1:9222', 'ws://127.0.0.1:9222/'],
])('%s is a URL', (text, href) => {
  expect([isUrl(text), normaliseUrl(text)]).toEqual([true, href])
})

const noUrls = `x y|://x|ht!tp://x|http//x|https//x.example|http:/x|http:x|http:\\x.example|http://http://x.example|https:/http://x
http;//x.example|"http://x"|<http://x>|*.example.com|x..y|.x|http://|?q|#a|a,b|(x)|$HOME|{url}|[url]| |`

test.each(noUrls.split(/[|\n]/))('%s is not a URL', (text) => {
  expect(isUrl(text)).toBe(false)
  expect(() => normaliseUrl(text, 'urls[1]')).toThrow(`urls[1] is not a URL: ${JSON.stringify(text)}`)
})
