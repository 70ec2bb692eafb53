/** A client like those of Stainless, with its own rules for retries. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageModule } from '../support/packages.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'

type Options = { body?: unknown; headers?: Record<string, string> }

/** The common part of such clients. */
interface Client {
  get(path: string): Promise<Record<string, unknown>>
  post(path: string, options: Options): Promise<Record<string, unknown>>
  delete(path: string): Promise<unknown>
}
interface ClientModule {
  default: new (options: Record<string, unknown>) => Client
}

let served: Served
let site: Site
let client: Client
/** Requests that the client has sent. */
const sent: string[] = []
/** Those of them that the rate limit allowed. */
const admitted: string[] = []

beforeAll(async () => {
  site = await serveSite({ '/': '<!doctype html><title>Home</title><h1>Home</h1>', '/slow': () => {} })
  served = await serveBax({}, ['--rate', '2', '--burst', '3'])
  const { default: Client } = await packageModule<ClientModule>('@anthropic-ai/sdk', '1.12.0', 'index.mjs')
  const counting: typeof fetch = async (url, options) => {
    const { pathname } = new URL(url as string)
    sent.push(pathname)
    const answer = await fetch(url, options)
    if (answer.status !== 429) admitted.push(pathname)
    return answer
  }
  client = new Client({ apiKey: served.key, baseURL: served.url, maxRetries: 5, fetch: counting })
}, servedWithinMs)
afterAll(async () => {
  await served.close()
  await site.close()
})

test('receives responses with its key in x-api-key', async () => {
  const answer = await client.post('/v1/scrape', { body: { url: site.url } })
  expect(answer).toMatchObject({ success: true, data: { metadata: { title: 'Home' } } })
})

test('waits for Retry-After when it is rate-limited', async () => {
  sent.length = 0
  const answers = await Promise.all(Array.from({ length: 6 }, () => client.get('/sessions')))
  for (const answer of answers) expect(answer).toMatchObject({ sessions: expect.any(Array) })
  expect(sent.length).toBeGreaterThan(6)
})

test('does not repeat errors that must not be retried', async () => {
  admitted.length = 0
  site.requests.length = 0
  const slow = client.post('/v1/scrape', { body: { url: `${site.url}/slow`, timeout: 300 } })
  await expect(slow).rejects.toMatchObject({ status: 408, error: { code: 'timeout' } })
  expect(admitted).toEqual(['/v1/scrape'])
  await expect(client.get('/sessions/ses_none')).rejects.toMatchObject({
    status: 404,
    error: { code: 'session_not_found', request_id: expect.stringMatching(/^req_/) },
  })
  expect(admitted).toHaveLength(2)
})

test('creates one session with two attempts and the same Idempotency-Key', async () => {
  const once = { body: { headless: true }, headers: { 'Idempotency-Key': 'one' } }
  const [first, again] = [await client.post('/sessions', once), await client.post('/sessions', once)]
  expect(again['session_id']).toBe(first['session_id'])
  const other = client.post('/sessions', { ...once, body: { headless: true, locale: 'de' } })
  await expect(other).rejects.toMatchObject({ status: 409, error: { code: 'conflict' } })
})
