import { expect, test } from 'vitest'
import type { RelayEvent } from '../../../src/core/shapes/relay.ts'
import { toHar } from '../../../src/engine/browser/network/to-har.ts'

let seq = 0
const network = (type: string, ts: number, data: Record<string, unknown>): RelayEvent => ({
  seq: ++seq,
  ts,
  received_at: new Date(ts).toISOString(),
  kind: 'network',
  type,
  target_id: 'T',
  data,
})

test('combines request, response and end into one entry with timings', () => {
  const { log } = toHar([
    network('request', 1000, {
      request_id: '1',
      method: 'GET',
      url: 'https://a.test/?q=1',
      headers: { cookie: '[redacted]' },
      resource: 'document',
    }),
    network('response', 1030, { request_id: '1', status: 200, mime: 'text/html', headers: { etag: '"x"' } }),
    network('finished', 1050, { request_id: '1', bytes: 512 }),
  ])
  expect(log).toMatchObject({ version: '1.2', creator: { name: 'bax' } })
  expect(log.entries).toHaveLength(1)
  expect(log.entries[0]).toMatchObject({
    startedDateTime: '1970-01-01T00:00:01.000Z',
    time: 50,
    request: {
      method: 'GET',
      url: 'https://a.test/?q=1',
      headers: [{ name: 'cookie', value: '[redacted]' }],
      queryString: [{ name: 'q', value: '1' }],
    },
    response: { status: 200, content: { size: 512, mimeType: 'text/html' } },
    timings: { wait: 30, receive: 20 },
  })
  expect(log.entries[0]).not.toHaveProperty('_incomplete')
})

test('a redirect ends its entry, and the next request with the same ID starts another', () => {
  const { log } = toHar([
    network('request', 1, { request_id: '1', method: 'GET', url: 'https://a.test/old' }),
    network('redirect', 2, { request_id: '1', status: 302, location: 'https://a.test/new' }),
    network('request', 2, { request_id: '1', method: 'GET', url: 'https://a.test/new' }),
    network('response', 3, { request_id: '1', status: 200 }),
    network('finished', 4, { request_id: '1', bytes: 1 }),
  ])
  expect(log.entries).toMatchObject([
    { request: { url: 'https://a.test/old' }, response: { status: 302, redirectURL: 'https://a.test/new' } },
    { request: { url: 'https://a.test/new' }, response: { status: 200 } },
  ])
})

test('failed requests have their error, and unfinished ones are marked', () => {
  const { log } = toHar([
    network('request', 1, { request_id: '1', method: 'GET', url: 'https://a.test/' }),
    network('failed', 2, { request_id: '1', error: 'net::ERR_CONNECTION_REFUSED' }),
    network('request', 3, { request_id: '2', method: 'GET', url: 'https://b.test/' }),
  ])
  expect(log.entries).toMatchObject([
    { response: { status: 0, _error: 'net::ERR_CONNECTION_REFUSED' } },
    { _incomplete: true },
  ])
})
