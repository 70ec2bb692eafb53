import { describe, expect, test } from 'vitest'
import { BaxError, type ErrorCode, errorTable } from '../../../src/core/errors/errors.ts'

/** Codes of each kind; scripts rely on the exit code of the kind. */
const kinds: Record<string, [exit: number, ErrorCode[]]> = {
  'a failure of the target': [1, ['element_not_found', 'dns_failed', 'robots_blocked', 'expectation_failed']],
  'a wrong request': [2, ['invalid_request', 'conflict', 'payload_too_large', 'unsupported']],
  'something that cannot be reached now': [3, ['engine_unreachable', 'no_capacity', 'rate_limited', 'browser_lost']],
  'a missing permission': [4, ['unauthorized', 'forbidden_scope', 'url_blocked', 'rejected', 'profile_locked']],
  'something missing': [5, ['session_not_found', 'session_closed', 'crawl_not_found', 'route_not_found']],
  'a timeout': [6, ['timeout', 'confirmation_timeout']],
  'a fault of bax or its machine': [7, ['internal_error', 'no_space']],
}

describe('the exit code', () => {
  test.each(Object.entries(kinds))('of %s', (_, [exit, codes]) => {
    expect(codes.filter((code) => new BaxError(code, '').exit !== exit)).toEqual([])
  })

  test('is that of a timeout or an internal error for no other code', () => {
    const codes = (Object.keys(errorTable) as ErrorCode[]).filter((code) => errorTable[code].exit >= 6)
    expect(codes.toSorted()).toEqual(['confirmation_timeout', 'internal_error', 'no_space', 'timeout'])
  })
})
