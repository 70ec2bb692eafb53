import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  redactFacts,
  redactHeaders,
  redactLine,
  redactText,
  redactUrl,
  redactValue,
} from '../../../src/core/access/redact.ts'

describe('redaction', () => {
  test('removes the values of secret headers and keeps the others', () => {
    expect(
      redactHeaders({
        Authorization: 'Bearer abc',
        'Proxy-Authorization': 'Basic abc',
        cookie: 'a=b',
        'set-cookie': 'a=b',
        'X-API-Key': 'k',
        'x-amz-security-token': 't',
        'X-CSRFToken': 'c',
        accept: 'text/html',
        referer: 'https://a.test/?token=1',
      }),
    ).toEqual({
      Authorization: '[redacted]',
      'Proxy-Authorization': '[redacted]',
      cookie: '[redacted]',
      'set-cookie': '[redacted]',
      'X-API-Key': '[redacted]',
      'x-amz-security-token': '[redacted]',
      'X-CSRFToken': '[redacted]',
      accept: 'text/html',
      referer: 'https://a.test/?token=[redacted]',
    })
  })

  test.each([
    ['https://a.test/?q=1&access_token=s3cret&x=2', 'https://a.test/?q=1&access_token=[redacted]&x=2'],
    ['https://a.test/cb#id_token=s3cret', 'https://a.test/cb#id_token=[redacted]'],
    ['https://user:s3cret@a.test/', 'https://[redacted]@a.test/'],
    ['https://a.test/?%74oken=s3cret', 'https://a.test/?%74oken=[redacted]'],
    ['https://a.test/?keyboard=qwerty', 'https://a.test/?keyboard=qwerty'],
    ['wss://a.test/live?sig=s3cret', 'wss://a.test/live?sig=[redacted]'],
  ])('turns %s into %s', (url, expected) => {
    expect(redactUrl(url)).toBe(expected)
  })

  test.each([
    'Authorization: Bearer s3cret-s3cret-s3cret',
    'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzM2NyZXQifQ.s3cret',
    'AKIAS3CRETS3CRETABCD',
    'fetch https://a.test/?password=s3cret failed',
  ])('removes the credential in %j', (text) => {
    expect(redactText(text)).not.toMatch(/s3cret/i)
  })

  test('redacts values of any shape', () => {
    expect(redactValue({ list: ['Bearer 123456789'], password: 'p', inner: { 'x-auth-token': 't', n: 1 } })).toEqual({
      list: ['Bearer [redacted]'],
      password: '[redacted]',
      inner: { 'x-auth-token': '[redacted]', n: 1 },
    })
  })

  test('removes secret fields of a URL at any position', () => {
    const name = fc.constantFrom(
      'token',
      'access_token',
      'api_key',
      'key',
      'secret',
      'password',
      'code',
      'sig',
      'session',
    )
    const other = fc.tuple(fc.constantFrom('q', 'page', 'utm'), fc.stringMatching(/^[a-z0-9]{0,5}$/))
    fc.assert(
      fc.property(fc.array(other, { maxLength: 4 }), name, fc.nat(4), (others, secret, at) => {
        const fields = others.map(([key, value]) => `${key}=${value}`)
        fields.splice(at, 0, `${secret}=HIDDEN`)
        expect(redactUrl(`https://a.test/p?${fields.join('&')}`)).not.toContain('HIDDEN')
      }),
    )
  })

  test('takes linear time for hostile text', () => {
    expect(redactText(`${'eyJ'.repeat(50_000)} ${'bearer '.repeat(20_000)}`)).toBeTypeOf('string')
  })
})

describe('a log line', () => {
  test('has no secret headers, in any notation', () => {
    expect(redactLine('cookie: a=1; b=hidden')).toBe('cookie: [redacted]')
    expect(redactLine('sent Authorization: Token hidden word')).toBe('sent Authorization: [redacted]')
    expect(redactLine('x-api-key=hidden')).toBe('x-api-key=[redacted]')
    expect(redactLine('GET /stream/sse?session_id=1&token=ft_hidden&types=frame')).toBe(
      'GET /stream/sse?session_id=1&token=[redacted]&types=frame',
    )
  })

  test('keeps the names of facts, and redacts secrets in their values', () => {
    const facts = {
      code: 'worker_lost',
      session: 'ses_1',
      'set-cookie': ['a=hidden'],
      inner: { 'proxy-authorization': 'Basic aGlkZGVu' },
      url: 'http://ann:hidden@example.com/?access_token=hidden',
      said: 'asked with Bearer abcdefgh12345',
    }
    expect(JSON.stringify(redactFacts(facts))).not.toMatch(/hidden|aGlkZGVu|abcdefgh12345/)
    expect(redactFacts(facts)).toMatchObject({ code: 'worker_lost', session: 'ses_1' })
  })
})
