import { expect, test } from 'vitest'
import { readCookies } from '../../../../src/engine/render/identity/cookie-text.ts'

const start = new URL('https://shop.example/basket')
const shown = (text: string) => readCookies(text, start).map(({ name, value, domain }) => `${name}=${value} ${domain}`)

test.each([
  ['a header', 'a=1; b=two words', ['a=1 shop.example', 'b=two words shop.example']],
  ['a header with its name', 'Cookie: a=1', ['a=1 shop.example']],
  ['a curl command', `curl 'https://api.example/x' -b 'a=1; b=2'`, ['a=1 api.example', 'b=2 api.example']],
  ['a curl command for an invalid URL', `curl 'https://[bad/' -H 'cookie: a=1'`, ['a=1 shop.example']],
  ['a file of Netscape', '.api.example\tTRUE\t/\tFALSE\t0\ta\t1', ['a=1 .api.example']],
  ['JSON', '[{"name":"a","value":"1","domain":"api.example"}]', ['a=1 api.example']],
])('cookies are read from %s', (_, text, cookies) => {
  expect(shown(text)).toEqual(cookies)
})

test.each(['no cookie', '[{"name": "a"}]', '{"a": 1}', '[', 'curl https://api.example/', '# Netscape cookies\na\tb'])(
  'text that has no cookies is refused without repeating it: %s',
  (text) => {
    expect(() => shown(text)).toThrow(/^cookies (?!.*api\.example)/)
  },
)
