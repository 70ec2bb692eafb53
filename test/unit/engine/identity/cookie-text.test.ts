import { expect, test } from 'vitest'
import { readCookies } from '../../../../src/engine/render/identity/cookie-text.ts'

const start = new URL('https://shop.example/basket')
const shown = (text: string) => readCookies(text, start).map(({ name, value, domain }) => `${name}=${value} ${domain}`)

test.each([
  ['a header', 'a=1; b=two words', ['a=1 shop.example', 'b=two words shop.example']],
  ['a header with its name', 'Cookie: a=1', ['a=1 shop.example']],
  ['a curl command', `curl 'https://api.example/x' -b 'a=1; b=2'`, ['a=1 api.example', 'b=2 api.example']],
  [
    'a curl command with escapes of bash',
    `curl 'https://api.example/' -b $'a=x\\u0021\\'y\\x41\\\\'`,
    [`a=x!'yA\\ api.example`],
  ],
  ['a curl command with an escaped quote', `curl 'https://api.example/' -b 'a=it'\\''s'`, [`a=it's api.example`]],
  [
    'a curl command of Windows',
    'curl ^"https://api.example/x?a=1^&b=2^" ^\r\n  -H ^"accept: */*^" ^\r\n  -b ^"a=1; b=^\\^"2^\\^"^" ^\r\n  --compressed',
    ['a=1 api.example', 'b="2" api.example'],
  ],
  [
    'a curl command whose body looks like flags',
    `curl 'https://api.example/' --data-raw ' -b x=1 ' \\\n  -b 'a=1'`,
    ['a=1 api.example'],
  ],
  ['a header with other scripts', 'a=日本; größe=é', ['a=日本 shop.example', 'größe=é shop.example']],
  ['a header with brackets', 'user[id]=1; a:b=2', ['user[id]=1 shop.example', 'a:b=2 shop.example']],
  ['a curl command for an invalid URL', `curl 'https://[bad/' -H 'cookie: a=1'`, ['a=1 shop.example']],
  ['a file of Netscape', '.api.example\tTRUE\t/\tFALSE\t0\ta\t1', ['a=1 .api.example']],
  ['JSON', '[{"name":"a","value":"1","domain":"api.example"}]', ['a=1 api.example']],
])('cookies are read from %s', (_, text, cookies) => {
  expect(shown(text)).toEqual(cookies)
})

test.each([
  ['a header with a line break', 'secret=1\r\nHost: x', 'control characters'],
  ['JSON', '[{"name":"a","value":"secret\\u0000"}]', 'control characters'],
  ['a file of Netscape', '.api.example\tTRUE\t/\tFALSE\t0\ta\tsecret\u0001', 'control characters'],
  ['a curl command', `curl https://api.example/ -b $'a=secret\\x01'`, 'control characters'],
  ['a list', [{ name: 'a b', value: 'secret' }], 'names without spaces'],
  ['a header with a quoted name', '"a=secret', 'names without spaces'],
])('%s with characters that no cookie has is refused', (_, given, message) => {
  const read = () => readCookies(given, start)
  expect(read).toThrow(message)
  expect(read).not.toThrow('secret')
})

test.each(['no cookie', '[{"name": "a"}]', '{"a": 1}', '[', 'curl https://api.example/', '# Netscape cookies\na\tb'])(
  'text that has no cookies is refused without repeating it: %s',
  (text) => {
    expect(() => shown(text)).toThrow(/^cookies (?!.*api\.example)/)
  },
)
