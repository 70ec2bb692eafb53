import { expect, test } from 'vitest'
import { noIdentity } from '../../../../src/core/identity.ts'
import { ResponseHeaders } from '../../../../src/engine/egress/response-headers.ts'
import { ReadIdentity } from '../../../../src/engine/render/identity/identity.ts'
import { SafeSigner } from '../../../../src/engine/render/identity/safe-signer.ts'

const identityWith = (cookies: string) =>
  new ReadIdentity({ input: { ...noIdentity, cookies }, start: new URL('https://one.example/') })
const set = (line: string) => new ResponseHeaders([['set-cookie', line]])

test('the first visit of another host of a list adds no cookies again that sites have changed', () => {
  const list = ['token', 'gone'].map((name) => ({ name, value: 'given', domain: '.one.example' }))
  const identity = identityWith(JSON.stringify(list))
  identity.received('https://one.example/', set('token=rotated; Domain=one.example'))
  identity.received('https://one.example/', set('gone=; Domain=one.example; Max-Age=0'))
  expect(identity.at('https://two.one.example/').cookiesFor('https://two.one.example/')).toBe('token=rotated')
})

test('cookies without a domain are given to each host of a list once, whatever its protocol', () => {
  const identity = identityWith('token=given')
  expect(identity.at('https://two.example/').cookiesFor('https://two.example/')).toBe('token=given')
  identity.received('https://two.example/', set('token=rotated'))
  expect(identity.at('http://two.example/').cookiesFor('http://two.example/')).toBe('token=rotated')
  expect(identity.cookiesFor('https://one.example/')).toBe('token=given')
})

test.each([
  ['https://one.example/', 'https://two.example/', true],
  ['http://one.example/', 'https://one.example/', true],
  ['http://one.example/', 'http://one.example/', false],
  ['https://one.example/', 'http://one.example/', false],
  ['https://one.test/', 'http://one.test/', false],
  ['http://one.test/', 'http://one.test/', true],
  ['http://one.localhost/', 'http://localhost:8080/', true],
  ['http://127.0.0.2/', 'http://user@0x7f.1:1/', true],
  ['http://10.0.0.1/', 'http://[::1]/', true],
  ['http://1.1.1.1/', 'http://1.1.1.1/', false],
  ['http://10.0.0.1/', 'http://10.0.0.1.example/', false],
  ['http://10.0.0.1/', 'http://localhost@one.example/', false],
])('reads that start at %s sign %s: %s', (start, href, isSigned) => {
  const signer = new SafeSigner({ headersFor: () => ({ signature: 'sig1' }) })
  const identity = new ReadIdentity({ input: noIdentity, start: new URL(start), signer })
  expect(identity.headersFor(href)).toEqual(isSigned ? { signature: 'sig1' } : {})
})
