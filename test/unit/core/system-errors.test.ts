import { expect, test } from 'vitest'
import { unreachable } from '../../../src/client/transport.ts'
import { systemReason } from '../../../src/core/errors/system-errors.ts'

const failed = (code: string) => Object.assign(new Error(`connect ${code} 10.0.0.1:80`), { code })

test.each([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'the connection was closed'],
  ['ETIMEDOUT', 'it does not answer'],
  ['ENOTFOUND', 'the host name cannot be resolved'],
  ['EACCES', 'permission denied'],
])('%s is "%s"', (code, reason) => expect(systemReason(failed(code))).toBe(reason))

test.each([
  ['ECONNREFUSED', 'nothing is listening there'],
  ['ECONNRESET', 'the connection was lost during the call'],
  ['EPIPE', 'the connection was lost during the call'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
])('an engine with %s is reported in own words', (code, why) => {
  expect(unreachable('http://x', failed(code))).toMatchObject({
    code: 'engine_unreachable',
    message: `cannot reach the engine at http://x: ${why}`,
  })
})
