import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { anonymousCaller, type Caller, keylessCaller } from '../../../src/core/access/caller.ts'
import { SeenNonces } from '../../../src/server/access/nonces.ts'
import {
  answerHeader,
  contentHeader,
  type Forwarded,
  ForwardedRequests,
  refusedHeader,
  type Signature,
} from '../../../src/server/access/signed-caller.ts'
import { bodyTrailer } from '../../../src/server/access/signed-body.ts'

const secret = randomBytes(32)
const line = { method: 'GET', target: '/sessions?status=all', headers: new Headers({ accept: 'application/json' }) }
const caller: Caller = { keyId: 'key_1', name: 'laptop', scopes: ['browser'], admin: false }
const facts: Forwarded = { caller, requestId: 'req_1', reservation: 'rsv_1' }
const signer = new ForwardedRequests(secret)
const worker = () => new ForwardedRequests(secret).forWorker((id) => id === 'wrk_1')

const sign = (body?: Uint8Array | NodeJS.ReadableStream, by = signer): Signature =>
  by.sign({ ...line, worker: 'wrk_1', body }, facts)

/** Signs now, and verifies when the other clock shows `laterMs` more. */
function transfer(sent: Forwarded, laterMs = 0, other = line) {
  const gateway = new ForwardedRequests(secret, () => 1_000_000)
  const receiver = new ForwardedRequests(secret, () => 1_000_000 + laterMs).forWorker(() => true)
  return receiver.verify(gateway.sign({ ...line, worker: 'wrk_1' }, sent).header, other)
}

describe('a signed request', () => {
  test('carries the caller, the request ID and the reservation', () => {
    expect(transfer(facts)).toMatchObject(facts)
    expect(transfer({ caller: keylessCaller, requestId: 'r' }).caller).toBe(keylessCaller)
    expect(transfer({ caller: anonymousCaller, requestId: 'r' }).caller).toBe(anonymousCaller)
  })

  test.each([
    [{ ...line, method: 'DELETE' }],
    [{ ...line, target: '/sessions' }],
    [{ ...line, target: '/engine' }],
    [{ ...line, headers: new Headers({ accept: 'text/event-stream' }) }],
    [{ ...line, headers: new Headers() }],
    [{ ...line, headers: new Headers({ accept: 'application/json', authorization: 'Bearer token' }) }],
  ])('is not valid for $method $target', (other) => {
    expect(() => transfer(facts, 0, other)).toThrow('is for another request')
  })

  test('is not valid for headers that a proxy adds, unless they change nothing', () => {
    const headers = new Headers({ accept: 'application/json', 'x-forwarded-for': '10.0.0.1' })
    expect(transfer(facts, 0, { ...line, headers })).toMatchObject(facts)
  })

  test('tolerates clocks that differ by 30 s, and names a larger difference', () => {
    expect(() => transfer(facts, 89_000)).not.toThrow()
    expect(() => transfer(facts, -29_000)).not.toThrow()
    expect(() => transfer(facts, 95_000)).toThrow('expired 35 s ago')
    expect(() => transfer(facts, -45_000)).toThrow('was made 45 s in the future')
  })

  test.each([
    ['without a header', null],
    ['with another secret', sign(undefined, new ForwardedRequests(randomBytes(32))).header],
    ['with a changed caller', changed()],
    ['with garbage', 'x.y.z'],
  ])('is refused %s', (_, header) => {
    expect(thrownBy(() => worker().verify(header, line))).toMatchObject({ code: 'unauthorized' })
    expect(worker().answer(header, 401)).toBeUndefined()
  })

  test('is accepted once, by the worker that it is for', () => {
    const own = worker()
    const { header } = sign()
    expect(own.verify(header, line)).toMatchObject(facts)
    expect(() => own.verify(header, line)).toThrow('was used before')
    expect(own.verify(sign().header, line)).toMatchObject(facts)
    const other = (isOwn: boolean | undefined) => signer.forWorker(() => isOwn)
    expect(() => other(false).verify(sign().header, line)).toThrow('is for another worker')
    expect(thrownBy(() => other(undefined).verify(sign().header, line))).toMatchObject({ code: 'not_ready' })
  })

  test('is valid for one body, in any chunks', () => {
    const read = (signature: Signature, ...chunks: string[]) => {
      const { body } = worker().verify(signature.header, line)
      for (const chunk of chunks) body.update(Buffer.from(chunk))
      return () => body.assertComplete({ trailers: {} })
    }
    const signature = () => sign(Buffer.from('{"code":"1 + 1"}'))
    expect(read(signature(), '{"code":', '"1 + 1"}')).not.toThrow()
    expect(read(sign())).not.toThrow()
    for (const chunks of [[], ['{"code":"1 + 2"}'], ['{"code":"1 + 1"}', ' ']])
      expect(read(signature(), ...chunks)).toThrow('the body is not the one that the gateway has signed')
    expect(read(sign(), '{}')).toThrow('the body is not the one')
  })

  test('has the digest of a streamed body in the trailer, which is valid for it alone', () => {
    const stream = process.stdin
    const digestOf = (signature: Signature, text: string) => signature.bodyHash().update(text).digest('base64url')
    const read = (signature: Signature, text: string, trailer: string | undefined) => {
      const { body } = worker().verify(signature.header, line)
      body.update(Buffer.from(text))
      return () => body.assertComplete({ trailers: trailer === undefined ? {} : { [bodyTrailer]: trailer } })
    }
    const [one, two] = [sign(stream), sign(stream)]
    expect(read(one, 'file', digestOf(one, 'file'))).not.toThrow()
    for (const trailer of [digestOf(one, 'file'), digestOf(two, 'other'), undefined, ''])
      expect(read(sign(stream), 'file', trailer)).toThrow('the body is not the one that the gateway has signed')
    // Without a stream, a trailer replaces nothing.
    const plain = sign(Buffer.from('file'))
    expect(read(plain, 'other', digestOf(plain, 'other'))).toThrow('the body is not the one')
  })

  test('is answered with a proof that the worker has the secret', () => {
    const signature = sign()
    const answered = (statusCode: number, answer: string | undefined, refusal?: string) =>
      signature.isAnswered({
        statusCode,
        headers: {
          ...(answer !== undefined && { [answerHeader]: answer }),
          ...(refusal && { [refusedHeader]: refusal }),
        },
      })
    const proof = worker().answer(signature.header, 200)
    expect(answered(200, proof)).toBe(true)
    expect(answered(404, proof)).toBe(false)
    expect(answered(200, proof, 'draining')).toBe(false)
    expect(answered(503, worker().answer(signature.header, 503, { refusal: 'draining' }), 'draining')).toBe(true)
    expect(answered(200, worker().answer(sign().header, 200))).toBe(false)
    expect(answered(200, undefined)).toBe(false)
    // The digest of the content can neither be changed nor left out.
    const signed = worker().answer(signature.header, 200, { content: 'digest' })!
    const withContent = (content?: string) =>
      signature.isAnswered({
        statusCode: 200,
        headers: { [answerHeader]: signed, ...(content && { [contentHeader]: content }) },
      })
    expect([withContent('digest'), withContent('other'), withContent()]).toEqual([true, false, false])
    // A worker also proves that it has the secret when it refuses a signature, for example an old one.
    const old = new ForwardedRequests(secret, () => 1)
    const other = old.sign({ ...line, worker: 'wrk_1' }, facts)
    expect(() => worker().verify(other.header, line)).toThrow('expired')
    const headers = {
      [answerHeader]: worker().answer(other.header, 401, { refusal: 'signature' }),
      [refusedHeader]: 'signature',
    }
    expect(other.isAnswered({ statusCode: 401, headers })).toBe(true)
  })
})

describe('nonces', () => {
  test('are remembered for as long as a signature is valid, and then forgotten', () => {
    let now = 0
    const seen = new SeenNonces(() => now)
    const uses = (nonce: string) => () => seen.assertNew(nonce)
    expect(uses('a')).not.toThrow()
    now = 119_000
    expect(uses('b')).not.toThrow()
    expect(uses('a')).toThrow('was used before')
    now = 121_000
    for (const nonce of ['a', 'b']) expect(uses(nonce)).toThrow('was used before')
    now = 241_000
    expect(uses('a')).not.toThrow()
    now = 600_000
    expect(uses('a')).not.toThrow()
  })

  test('are refused when there is no room to remember them', () => {
    const seen = new SeenNonces(() => 0, 2)
    seen.assertNew('a')
    seen.assertNew('b')
    expect(thrownBy(() => seen.assertNew('c'))).toMatchObject({ code: 'no_capacity' })
    expect(() => seen.assertNew('a')).toThrow('was used before')
  })
})

function changed(): string {
  const [text, digest] = sign().header.split('.')
  const parsed = JSON.parse(Buffer.from(text!, 'base64url').toString()) as { caller: { admin: boolean } }
  parsed.caller.admin = true
  return `${Buffer.from(JSON.stringify(parsed)).toString('base64url')}.${digest}`
}

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('it did not throw')
}
