import { expect, test } from 'vitest'
import { pendingClause } from '../../../src/engine/browser/network/request-log.ts'

const request = (method: string, url: string) => ({ method, url })

test('pending requests are named with their method and URL, without secrets', () => {
  expect(pendingClause([])).toBe('')
  expect(pendingClause([request('POST', 'http://127.0.0.1/save?password=hush&q=5')])).toBe(
    '; pending: POST http://127.0.0.1/save?password=[redacted]&q=5',
  )
})

test('many pending requests, and long URLs, are cut', () => {
  const clause = pendingClause(['/1', '/2', '/3', '/4', '/5'].map((path) => request('GET', path)))
  expect(clause).toBe('; pending: GET /1, GET /2, GET /3 and 2 more')
  const long = pendingClause([request('GET', `data:,${'x'.repeat(5000)}`)])
  expect(long).toHaveLength('; pending: GET '.length + 200 + '…'.length)
})
