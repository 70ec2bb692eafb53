/** Requests that misspell a field which restricts them are refused, not run without it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { securityFields } from '../../src/core/operation/input/security-fields.ts'
import { operations } from '../../src/operations/index.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
beforeAll(async () => {
  ;[homes, site] = await Promise.all([openHomes(), serveSite({ '/': '<title>Home</title><h1>Home</h1>' })])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

describe('security fields', () => {
  async function send(path: string, body: object) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(homes.baseUrl + path, { method: 'POST', body: JSON.stringify(body), headers })
    return { status: response.status, answer: (await response.json()) as Record<string, unknown> }
  }
  const stateOf = async (path: string) =>
    ((await (await fetch(homes.baseUrl + path)).json()) as { status: string }).status
  const sessions = async () => (await homes.clients.http.listSessions({})).sessions.length

  test.each([
    ['/sessions', { confirmm: ['eval'] }, 'confirmm', 'confirm'],
    ['/sessions', { Confirm: ['eval'] }, 'Confirm', 'confirm'],
    ['/sessions', { allowed_domain: ['a.example'] }, 'allowed_domain', 'allowed_domains'],
    ['/sessions', { allowDomains: ['a.example'] }, 'allowDomains', 'allowedDomains'],
    ['/sessions', { proxi: 'http://127.0.0.1:1' }, 'proxi', 'proxy'],
    ['/commands', { commands: [{ command: 'get_url' }], confirms: ['eval'] }, 'confirms', 'confirm'],
    ['/v1/keys', { name: 'ci', scope: ['read'] }, 'scope', 'scopes'],
    ['/relay/tokens', { singleuse: true }, 'singleuse', 'single_use'],
    ['/shell/sessions', { image: 'busybox', networks: 'none' }, 'networks', 'network'],
  ])('%s refuses %j', async (path, body, field, meant) => {
    const before = await sessions()
    const { status, answer } = await send(path, body)
    expect({ status, code: answer['code'] }).toEqual({ status: 400, code: 'invalid_request' })
    expect(answer['error']).toContain(`${field} is not a known field (did you mean "${meant}"?)`)
    expect(await sessions()).toBe(before)
  })

  test.each([
    ['/v1/extract', { urls: ['http://127.0.0.1:1'], allowed_domains: ['a.example'] }],
    ['/v2/search', { query: 'x', allowed_domains: ['a.example'] }],
    ['/v1/scrape', { url: 'http://127.0.0.1:1', confirm: ['eval'] }],
    ['/v1/scrape', { url: 'http://127.0.0.1:1', allowedDomain: 'a.example', confirmm: ['eval'] }],
  ])('%s refuses a security field that it does not support', async (path, body) => {
    const { status, answer } = await send(path, body)
    expect({ status, code: answer['code'] }).toEqual({ status: 400, code: 'invalid_request' })
    expect(answer['error']).toMatch(/(?:allowed_domains|confirm) is not supported here/)
  })

  test.each([
    ['/sessions', { options: { confirm: ['eval'] } }, 'options.confirm'],
    [
      '/v2/map',
      { url: 'http://127.0.0.1:1', scrapeOptions: { allowed_domain: ['a.example'] } },
      'scrapeOptions.allowed_domain',
    ],
    [
      '/v1/scrape',
      { url: 'http://127.0.0.1:1', rules: [{ page: { allowedDomains: ['a.example'] } }] },
      'rules[0].page.allowedDomains',
    ],
  ])('%s refuses a security field in the wrong place: %j', async (path, body, field) => {
    const { status, answer } = await send(path, body)
    expect({ status, code: answer['code'] }).toEqual({ status: 400, code: 'invalid_request' })
    expect(answer['error']).toContain(`${field} is not a known field`)
  })

  test('a request with a security field has no unknown ones beside it', async () => {
    const { status, answer } = await send('/sessions', { headless: true, confirm: ['eval'], colour: 'red' })
    expect(status).toBe(400)
    expect(answer['error']).toContain('colour is not a known field')
  })

  test('a security field that is null restricts nothing, and other unknown fields are reported', async () => {
    const others = { colour: 'red', config: {}, stores: [], single_page: true }
    const { status, answer } = await send('/v1/scrape', { url: site.url, allowed_domains: null, ...others })
    expect(status).toBe(200)
    expect(answer['warning']).toMatch(/ignored unknown fields: colour, config.*, stores.*, single_page/)
  })

  test.each(['/v1/map', '/v2/map', '/v1/crawl', '/v2/crawl'])('%s keeps to allowed_domains', async (path) => {
    const { answer } = await send(path, { url: `${site.url}/kept`, allowed_domains: ['other.example'] })
    const { id } = answer as { id?: string }
    if (id !== undefined) await waitUntil(async () => (await stateOf(`${path}/${id}`)) !== 'scraping')
    expect(site.requests).not.toContain('/kept')
    // The same request without the field reaches the site.
    await send(path, { url: `${site.url}/${path.replaceAll('/', '-')}` })
    await waitUntil(() => site.requests.includes(`/${path.replaceAll('/', '-')}`))
  })
})

test('every security field is one of an operation', () => {
  const known = new Set(Object.values(operations).flatMap(({ input }) => Object.keys(input.shape)))
  for (const name of securityFields) expect(known).toContain(name)
})
