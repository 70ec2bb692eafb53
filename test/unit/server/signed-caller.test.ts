import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { anonymousCaller, type Caller, keylessCaller } from '../../../src/core/access/caller.ts'
import { ForwardedRequests } from '../../../src/server/access/signed-caller.ts'

const secret = randomBytes(32)
const line = { method: 'GET', target: '/sessions?status=all' }
const caller: Caller = { keyId: 'key_1', name: 'laptop', scopes: ['browser'], admin: false }

/** Signs now, and verifies when the other clock shows `laterMs` more. */
function transfer(facts: { caller: Caller; requestId: string; reservation?: string }, laterMs = 0, other = line) {
  const gateway = new ForwardedRequests(secret, () => 1_000_000)
  const worker = new ForwardedRequests(secret, () => 1_000_000 + laterMs)
  return worker.verify(gateway.sign(line, facts), other)
}

describe('a signed request', () => {
  test('carries the caller, the request ID and the reservation', () => {
    const facts = { caller, requestId: 'req_1', reservation: 'rsv_1' }
    expect(transfer(facts)).toEqual(facts)
    expect(transfer({ caller: keylessCaller, requestId: 'r' }).caller).toBe(keylessCaller)
    expect(transfer({ caller: anonymousCaller, requestId: 'r' }).caller).toBe(anonymousCaller)
  })

  test.each([
    [{ method: 'DELETE', target: line.target }],
    [{ method: 'GET', target: '/sessions' }],
    [{ method: 'GET', target: '/engine' }],
  ])('is not valid for $method $target', (other) => {
    expect(() => transfer({ caller, requestId: 'r' }, 0, other)).toThrow('is for another request')
  })

  test('tolerates clocks that differ by 30 s, and names a larger difference', () => {
    expect(() => transfer({ caller, requestId: 'r' }, 89_000)).not.toThrow()
    expect(() => transfer({ caller, requestId: 'r' }, -29_000)).not.toThrow()
    expect(() => transfer({ caller, requestId: 'r' }, 95_000)).toThrow('expired 35 s ago')
    expect(() => transfer({ caller, requestId: 'r' }, -45_000)).toThrow('was made 45 s in the future')
  })

  test.each([
    ['without a header', null],
    ['with another secret', new ForwardedRequests(randomBytes(32)).sign(line, { caller, requestId: 'r' })],
    ['with a changed caller', changed()],
    ['with garbage', 'x.y.z'],
  ])('is refused %s', (_, header) => {
    const error = thrownBy(() => new ForwardedRequests(secret).verify(header, line))
    expect(error).toMatchObject({ code: 'unauthorized' })
  })
})

function changed(): string {
  const header = new ForwardedRequests(secret).sign(line, { caller, requestId: 'r' })
  const [text, digest] = header.split('.')
  const facts = JSON.parse(Buffer.from(text!, 'base64url').toString()) as { caller: { admin: boolean } }
  facts.caller.admin = true
  return `${Buffer.from(JSON.stringify(facts)).toString('base64url')}.${digest}`
}

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('it did not throw')
}
